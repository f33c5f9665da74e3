/**
 * Imported before a program: at `process.exit` V8 has thousands of functions to compile, whose code takes more memory
 * than the heap has room for.
 */
const functions = 4_000;
const branches = Array.from({ length: 60 }, (_, n) => `if (s > ${n}) s ^= b.length; else s = Math.max(s, ${n});`);
/** Each has its own: V8 compiles the same source once. */
const body = (n: number) => `let s = a + ${n};${branches.join('')} return s;`;
const exit = process.exit;

type Compiled = (a: number, b: string) => number;

process.exit = (code) => {
  const all = Array.from({ length: functions }, (_, n) => new Function('a', 'b', body(n)) as Compiled);
  // The first call compiles bytecode; about ten make a function worth baseline code.
  for (const each of all) each(1, 'a');
  for (const each of all) for (let call = 0; call < 10; call += 1) each(call, 'abc');
  return exit(code);
};

export {};
