/** What an assertion compares of a list: a field of each item, or several. */

export const column = <Item, Field extends keyof Item>(items: readonly Item[], field: Field): Item[Field][] =>
  items.map((item) => item[field]);

export const columns = <Item, Field extends keyof Item>(items: readonly Item[], ...fields: Field[]): Item[Field][][] =>
  items.map((item) => fields.map((field) => item[field]));
