/** The command `probelet`, as `npx` finds it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tally } from '../../support/tally.ts';
import { type Installed, type Ran, root } from './installed.ts';

export function judgeCommand(installed: Installed, verdict: Tally['verdict']): void {
  const probelet = (...args: readonly string[]): Ran => installed.run('npx', ['--no-install', 'probelet', ...args]);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const expect = (name: string, { status, out, err }: Ran, wanted: Pick<Ran, 'status'> & { readonly out: RegExp }) =>
    verdict(name, status === wanted.status && wanted.out.test(out) ? [] : [`exit code ${status}`, out, err]);
  const [file, ok] = ['deployment.yaml', 0];
  expect('probelet --version prints the version', probelet('--version'), {
    status: ok,
    out: new RegExp(`^${version}\n$`),
  });
  expect('probelet --help names the commands', probelet('--help'), {
    status: ok,
    out: /^ {2}start .*^ {2}get .*^ {2}convert /ms,
  });
  const mail = { name: 'mail', email: { host: '127.0.0.1', from: 'probelet@test', to: ['ops@test'] } };
  writeFileSync(join(installed.folder, 'mail.json'), JSON.stringify({ receivers: [mail] }));
  const { status, err } = probelet('start', '--port', '0', '--data-dir', ':memory:', '--config', 'mail.json');
  const isNamed = /receivers\[0\]\.email: needs the package nodemailer: install it beside probelet$/m.test(err);
  verdict('a receiver by mail asks for its library', status === 2 && isNamed ? [] : [`exit code ${status}`, err]);
  const converted = probelet('convert', '-f', file, '--host', '127.0.0.1');
  expect('probelet convert prints a target', converted, { status: ok, out: /^kind: Target$/m });
  expect('probelet lint has a finding', probelet('lint', '-f', file), {
    status: 1,
    out: /^deployment\.yaml:\d+:\d+: warning /,
  });
}
