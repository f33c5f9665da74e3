/** What a server says about an edited text stays in the comments of the file. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { editorIn } from '../../../functions/cli/files/editor.ts';
import { assertHarmless, hostileText } from '../../support/hostile-text.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('a reason of several lines begins no line of the YAML', async () => {
  const seen = join(temporaryFolder(), 'seen');
  const editor = editorIn({ ...process.env, VISUAL: `cat > ${seen} <` });
  try {
    const text = await editor.edited('a: 1\n', [`error: ${hostileText}\nb: 2`]);
    assert.equal(text, 'a: 1\n');
    assertHarmless(readFileSync(seen, 'utf8'), 'the file');
  } finally {
    editor.end();
  }
});
