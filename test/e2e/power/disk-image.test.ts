import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../support/seeded-random.ts';
import { type Image, TracedDisk } from './disk-image.ts';
import type { DiskCall } from './traced-calls.ts';

type Given = DiskCall extends infer Call ? (Call extends DiskCall ? Omit<Call, 'atMs'> : never) : never;

const root = '/disk';

function diskAfter(...calls: readonly Given[]): TracedDisk {
  const disk = new TracedDisk(root);
  for (const [index, call] of calls.entries()) disk.take({ atMs: index, ...call } as DiskCall);
  return disk;
}

const texts = (image: Image) => Object.fromEntries([...image].map(([path, bytes]) => [path, bytes.toString()]));
const open = (fd: number, path: string, flags = 'O_WRONLY|O_CREAT|O_TRUNC'): Given => ({
  kind: 'open',
  fd,
  path,
  flags,
});
const write = (fd: number, text: string): Given => ({ kind: 'write', fd, bytes: Buffer.from(text) });
const sync = (fd: number): Given => ({ kind: 'sync', fd });
const folder = open(9, root, 'O_RDONLY|O_DIRECTORY');
const replaced = [
  open(3, '/disk/a.new'),
  write(3, 'new'),
  sync(3),
  { kind: 'rename', from: '/disk/a.new', to: '/disk/a' },
] as const satisfies readonly Given[];
const kept = [open(4, '/disk/a'), write(4, 'old'), sync(4), folder, sync(9)] as const;

test('a file without the sync of its folder has no name', () => {
  const disk = diskAfter(open(3, '/disk/a'), write(3, 'text'), sync(3));
  assert.deepEqual([texts(disk.least()), texts(disk.most())], [{}, { '/disk/a': 'text' }]);
});

test('bytes without a sync are not there', () => {
  const disk = diskAfter(...kept, write(4, ' and more'));
  assert.deepEqual([texts(disk.least()), texts(disk.most())], [{ '/disk/a': 'old' }, { '/disk/a': 'old and more' }]);
});

test('a name is the old file until the folder is synced', () => {
  const unsynced = diskAfter(...kept, ...replaced);
  assert.deepEqual([texts(unsynced.least()), texts(unsynced.most())], [{ '/disk/a': 'old' }, { '/disk/a': 'new' }]);
  assert.deepEqual(texts(diskAfter(...kept, ...replaced, sync(9)).least()), { '/disk/a': 'new' });
});

test('of what is not synced any part may be there', () => {
  const random = seededRandom(1);
  const disk = diskAfter(...kept, write(4, 'x'.repeat(2_000)));
  const lengths = new Set(Array.from({ length: 200 }, () => disk.some(random).get('/disk/a')?.length ?? 0));
  assert.deepEqual(
    [...lengths].toSorted((one, other) => one - other),
    [3, 515, 1_027, 1_539, 2_003],
  );
});

test('a folder that was made is lost with all that is in it', () => {
  const made = [{ kind: 'mkdir', path: '/disk/data' }, open(5, '/disk/data/b'), write(5, 'b'), sync(5)] as const;
  const inner = [open(6, '/disk/data', 'O_RDONLY|O_DIRECTORY'), sync(6)] as const;
  assert.deepEqual(texts(diskAfter(...made, ...inner).least()), {});
  assert.deepEqual(texts(diskAfter(...made, ...inner, folder, sync(9)).least()), { '/disk/data/b': 'b' });
});
