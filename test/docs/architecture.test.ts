/**
 * docs/architecture.md has each room: the folders of `shared` and `functions`, and those within core and the holder.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { codeSpansOf, tableRowsOf } from '../support/markdown.ts';

const root = join(import.meta.dirname, '../..');
const [, rooms = ''] =
  /^## Rooms\n([\s\S]*?)^## /m.exec(readFileSync(join(root, 'docs/architecture.md'), 'utf8')) ?? [];
const named = tableRowsOf(rooms).flatMap(([room = '']) => codeSpansOf(room));

const foldersOf = (path: string): readonly string[] =>
  readdirSync(join(root, path), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [`${path}/${entry.name}`] : [],
  );

test('the rooms of docs/architecture.md are the folders', () => {
  const folders = ['shared', 'functions', 'shared/core', 'shared/holder'].flatMap(foldersOf);
  assert.deepEqual(
    folders.filter((folder) => !named.includes(folder)),
    [],
  );
  assert.deepEqual(
    named.filter((room) => !existsSync(join(root, room))),
    [],
  );
});
