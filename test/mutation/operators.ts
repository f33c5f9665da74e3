/**
 * Every mutant of a source file: its conditions, constants, returns and calls, each replaced by what a slip of the pen
 * would make of it.
 */
import { parseSync } from 'oxc-parser';
import type { Mutant, Operator } from './mutant.ts';

type Node = { readonly type: string; readonly start: number; readonly end: number; readonly [field: string]: unknown };

type Replaced = { readonly operator: Operator; readonly at: Pick<Node, 'start' | 'end'>; readonly by: string };

/** In the order of the source. */
export function mutantsOf(file: string, source: string): readonly Mutant[] {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const replaced: Replaced[] = [];
  walk(program as unknown as Node, (node) => void replaced.push(...replacementsOf(node, source)));
  const lines = source.split('\n');
  const mutants = replaced.map(({ operator, at: { start, end }, by }): Mutant => {
    const before = source.slice(0, start);
    const line = before.split('\n').length;
    const column = start - before.lastIndexOf('\n');
    const code = lines[line - 1]?.trim() ?? '';
    return { file, operator, start, end, replacement: by, line, column, code, original: source.slice(start, end) };
  });
  return mutants.sort((one, other) => one.start - other.start || one.end - other.end);
}

/** Types are gone before anything runs; of what wraps an expression in one only the expression is left. */
const wrappers: ReadonlySet<string> = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']);

function walk(node: Node, visit: (node: Node) => void): void {
  const isType = node.type.startsWith('TS') && !wrappers.has(node.type);
  if (isType || node.type === 'ImportDeclaration') return;
  visit(node);
  for (const child of Object.values(node).flat()) if (isNode(child)) walk(child, visit);
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

function replacementsOf(node: Node, source: string): readonly Replaced[] {
  const text = ({ start, end }: Node) => source.slice(start, end);
  switch (node.type) {
    case 'BinaryExpression':
      return binary(node, source);
    case 'LogicalExpression':
      return logical(node, source);
    case 'UnaryExpression':
      return node.operator === '!' ? [{ operator: 'negation', at: node, by: `(${text(node.argument as Node)})` }] : [];
    case 'IfStatement':
    case 'ConditionalExpression':
      return ['true', 'false'].map((by): Replaced => ({ operator: 'condition', at: node.test as Node, by }));
    case 'WhileStatement':
      return [{ operator: 'condition', at: node.test as Node, by: 'false' }];
    case 'Literal':
      return literal(node);
    case 'ReturnStatement':
      return node.argument ? returned(node.argument as Node, source) : [];
    case 'ArrowFunctionExpression':
      return node.expression ? returned(node.body as Node, source) : [];
    case 'ExpressionStatement':
      return [{ operator: 'statement', at: node, by: ';' }];
    case 'MemberExpression':
      return method(node);
    default:
      return [];
  }
}

const otherComparison: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
};

const otherArithmetic: Readonly<Record<string, string>> = { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*' };

function binary(node: Node, source: string): readonly Replaced[] {
  const { operator } = node as unknown as { readonly operator: string };
  const at = operatorPlace(node, operator, source);
  const comparisons = (otherComparison[operator] ?? []).map((by): Replaced => ({ operator: 'comparison', at, by }));
  const sides = [node.left as Node, node.right as Node];
  // Text is put together with a plus, too.
  const isText = sides.some(({ type, value }) => type === 'TemplateLiteral' || typeof value === 'string');
  const by = isText ? undefined : otherArithmetic[operator];
  return by === undefined ? comparisons : [...comparisons, { operator: 'arithmetic', at, by }];
}

function logical(node: Node, source: string): readonly Replaced[] {
  const { operator } = node as unknown as { readonly operator: '&&' | '||' | '??' };
  const at = operatorPlace(node, operator, source);
  const whole = (side: unknown) => source.slice((side as Node).start, (side as Node).end);
  // A nullish operator may not stand beside the others without parentheses.
  if (operator === '??') return [{ operator: 'logical', at: node, by: `(${whole(node.left)})` }];
  return [{ operator: 'logical', at, by: operator === '&&' ? '||' : '&&' }];
}

/** Comments and parentheses may lie between the sides and their operator. */
function operatorPlace({ left, right }: Node, operator: string, source: string): Pick<Node, 'start' | 'end'> {
  const [{ end }, { start: last }] = [left as Node, right as Node];
  const between = source
    .slice(end, last)
    .replaceAll(/\/\*.*?\*\/|\/\/[^\n]*/gs, (comment) => ' '.repeat(comment.length));
  const start = end + between.indexOf(operator);
  return { start, end: start + operator.length };
}

/** A number up to this counts something; a greater one is a limit, of which one more or less is no mistake. */
const smallMax = 20;

function literal(node: Node): readonly Replaced[] {
  const { value } = node;
  if (typeof value === 'boolean') return [{ operator: 'boolean', at: node, by: `${!value}` }];
  if (typeof value !== 'number') return [];
  const others = value === 0 ? [1] : value <= smallMax ? [value - 1, value + 1] : [0, value * 10];
  return others.map((by): Replaced => ({ operator: 'constant', at: node, by: `${by}` }));
}

const truths: ReadonlySet<string> = new Set(['LogicalExpression', 'BinaryExpression', 'UnaryExpression']);

/** What a function answers: the opposite, or nothing. */
function returned(node: Node, source: string): readonly Replaced[] {
  const value = unwrapped(node);
  if (value.type === 'BlockStatement' || isUndefined(value)) return [];
  if (truths.has(value.type) && isTruth(value))
    return [{ operator: 'return', at: node, by: `!(${source.slice(node.start, node.end)})` }];
  if (value.type === 'Literal' && typeof value.value !== 'string') return [];
  if (value.type === 'ArrayExpression')
    return (value.elements as readonly unknown[]).length === 0 ? [] : [{ operator: 'return', at: node, by: '[]' }];
  return [{ operator: 'return', at: node, by: 'undefined' }];
}

function isTruth(node: Node): boolean {
  if (node.type === 'UnaryExpression') return node.operator === '!';
  if (node.type === 'BinaryExpression') return otherComparison[node.operator as string] !== undefined;
  return node.operator !== '??';
}

const isUndefined = (node: Node): boolean => node.type === 'Identifier' && node.name === 'undefined';

function unwrapped(node: Node): Node {
  return node.type === 'ParenthesizedExpression' || wrappers.has(node.type) ? unwrapped(node.expression as Node) : node;
}

const otherMethod: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
]);

function method(node: Node): readonly Replaced[] {
  const property = node.property as Node;
  const by = node.computed || typeof property.name !== 'string' ? undefined : otherMethod.get(property.name);
  return by === undefined ? [] : [{ operator: 'method', at: property, by }];
}
