/** Looks up `a` in a hosts file that changes while this process, which has few descriptors, has none left. */
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { hostsFile } from '../../shared/net/hosts-file.ts';

const [, , path = ''] = process.argv;
let nowMs = 0;
const hosts = hostsFile(path, { monotonicMs: () => nowMs } as never);
/** Before the file is checked again. */
const later = () => {
  nowMs += 5_000;
};
const found = [hosts('a')];
writeFileSync(path, '10.0.0.22 a\n');
const open: number[] = [];
try {
  for (;;) open.push(openSync('/dev/null', 'r'));
} catch {
  later();
  found.push(hosts('a'));
}
for (const descriptor of open) closeSync(descriptor);
later();
found.push(hosts('a'));
process.stdout.write(JSON.stringify(found.flat()));
