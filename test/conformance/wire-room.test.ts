import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { keptVectors, readVectors } from './vector-files.ts';

const play = `
const { runVectors, familyOf } = await import(process.argv[1]);
const vector = JSON.parse(process.argv[2]);
const findings = await runVectors([vector], familyOf('wire-sni'));
process.stdout.write(String(findings.get(vector)));
`;

test('where a network of its own is not permitted, a vector fails and says what is needed', async () => {
  const [vector] = readVectors(join(keptVectors, 'wire-sni.jsonl'));
  const args = ['--input-type=module', '-e', play, join(import.meta.dirname, 'run.ts'), JSON.stringify(vector)];
  // Nothing is found in it: no unshare either.
  const env = { ...process.env, PATH: import.meta.dirname };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  assert.match(stdout, /a network of its own is needed: Linux with unshare/);
});
