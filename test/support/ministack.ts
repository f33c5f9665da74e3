/** An emulator of AWS, in memory, one Python process for one test file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { CreateQueueCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { sqsClient } from '../../shared/queue/sqs-call.ts';
import { type LocalServer, startLocalServer } from './local-server.ts';
import { pythonPrograms } from './python-programs.ts';

export type Ministack = LocalServer;

/** Any key will do, without a prefix that looks real. */
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

type Options = {
  /** A folder whose programs come before all others, `node` for one, which runs its functions. */
  readonly programs?: string;
  /** It checks signatures, and what IAM allows its users. The access key `test` may do everything. */
  readonly isStrict?: boolean;
};

/** Stop it in `after`; it also ends with this process, however that ends. */
export async function startMinistack({ programs, isStrict = false }: Options = {}): Promise<Ministack> {
  const { ministack } = pythonPrograms();
  const folder = mkdtempSync(join(tmpdir(), 'probelet-ministack-'));
  const server = await startLocalServer({
    name: 'the emulator',
    command: () => [ministack],
    // The functions that it runs have a group of processes to themselves.
    options: (port) => ({
      cwd: folder,
      env: { ...environmentOf(port, folder, programs), AUTH: `${isStrict}` },
      detached: true,
    }),
    path: '/_ministack/health',
    isUp: ({ ok }) => ok,
  });
  const stop = async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { ...server, stop };
}

/** A separate environment, so that no setting or key of this machine reaches the emulator. */
const environmentOf = (port: number, folder: string, programs: string | undefined) => ({
  PATH: [...(programs ? [programs] : []), dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(
    delimiter,
  ),
  HOME: folder,
  TMPDIR: folder,
  BIND_HOST: '127.0.0.1',
  GATEWAY_PORT: String(port),
  IOT_MTLS_ENABLED: '0',
});

/** A client of the emulator, or of a proxy in front of it. */
export const ministackSqs = (endpoint: string): SQSClient => sqsClient({ endpoint, region: 'us-east-1', credentials });

/** A FIFO queue as a deployment has it; its URL. */
export async function createQueue(client: SQSClient, name: string): Promise<string> {
  const Attributes = { FifoQueue: 'true', MessageRetentionPeriod: '3600', VisibilityTimeout: '900' };
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: `${name}.fifo`, Attributes }));
  if (!QueueUrl) throw new Error('a queue without a URL');
  return QueueUrl;
}
