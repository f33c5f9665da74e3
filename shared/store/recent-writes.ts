/** The writes that a store has made lately, as DynamoDB remembers the tokens of its transactions. */

/** `digest`: of its operations. */
export type WriteName = { readonly token: string; readonly digest: string };

/** How many writes are remembered. DynamoDB remembers a transaction's token for ten minutes. */
const recentWritesMax = 1000;

export type RecentWrites = {
  /** @throws Error if the token was used for a different write, like DynamoDB's IdempotentParameterMismatch. */
  has(name: WriteName): boolean;
  remember(name: WriteName): void;
  /** For a write that was remembered and then undone. */
  forget(name: WriteName): void;
};

/** Detects a repetition even if no item carries the token any more. */
export function recentWrites(): RecentWrites {
  const digests = new Map<string, string>();
  return {
    has: ({ token, digest }) => {
      const known = digests.get(token);
      if (known !== undefined && known !== digest) throw new Error(`token '${token}' names another write`);
      return known !== undefined;
    },
    forget: ({ token }) => void digests.delete(token),
    remember: ({ token, digest }) => {
      digests.set(token, digest);
      const oldest = digests.keys().next();
      if (digests.size > recentWritesMax && !oldest.done) digests.delete(oldest.value);
    },
  };
}
