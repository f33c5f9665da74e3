/** `probelet/client` in a user's program. */
import type { Tally } from '../../support/tally.ts';
import type { Installed } from './installed.ts';

/** Port 9 is that of no server; with AWS it signs, which loads the SDK's parts. */
const program = `
import { ClientError, probeletClient } from 'probelet/client';
const credentials = async () => ({ accessKeyId: 'A', secretAccessKey: 'b' });
const client = probeletClient({ url: 'http://127.0.0.1:9', aws: { region: 'eu-west-1', credentials } });
const error = await client.version().catch((thrown) => thrown);
await client.close();
process.stdout.write(error instanceof ClientError ? error.fault : String(error));
`;

export function judgeClient({ run }: Installed, verdict: Tally['verdict']): void {
  const { out, err } = run('node', ['--input-type=module', '--eval', program]);
  verdict('probelet/client signs a request, and says that no server is there', out === 'unreachable' ? [] : [out, err]);
}
