/** The address of a receiver may be a secret of its own, in a file or a variable. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { receiverOf } from '../../../functions/local/alerts/receivers.ts';
import { parseConfig } from '../../../shared/config/read-config.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

function receiverWith(t: TestContext, kind: string, url: string) {
  const file = join(temporaryFolder(t), 'url');
  writeFileSync(file, `${url}\n`);
  const read = parseConfig(`receivers: [{ name: ops, ${kind}: { url: { file: ${file} } } }]\n`);
  assert.ok(read.kind !== 'invalid', JSON.stringify(read));
  const [entry] = read.config.receivers ?? [];
  assert.ok(entry);
  return receiverOf(entry, 'receivers[0]', undefined);
}

for (const kind of ['slack', 'teams', 'discord', 'webhook']) {
  test(`${kind}: an http or https URL is taken`, (t) => {
    for (const url of ['https://hooks.test/x', 'http://127.0.0.1:9/x']) {
      const receiver = receiverWith(t, kind, url);
      assert.equal('url' in receiver && receiver.url, url);
    }
  });

  test(`${kind}: anything else is refused by its field, and not repeated`, (t) => {
    for (const url of ['ftp://hooks.test/s3cret', 's3cret', 'file:///s3cret'])
      assert.throws(
        () => receiverWith(t, kind, url),
        ({ message }: Error) =>
          message.startsWith(`receivers[0].${kind}.url: `) &&
          message.endsWith(' holds no http or https URL') &&
          !message.includes('s3cret'),
      );
  });
}
