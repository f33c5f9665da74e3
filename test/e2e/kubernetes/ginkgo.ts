/** The compiled cases as a program: which there are, and playing one. The program is Ginkgo's, so are its options. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameOf } from './cases.ts';

const file = 'container_probe.go';

/** Beyond what any of the cases waits for. */
const timeLimit = '15m';

const common = [
  '--provider=skeleton',
  '--kube-api-content-type=application/json',
  '--e2e-verify-service-account=false',
  '--dump-logs-on-failure=false',
  '--ginkgo.no-color',
  `--ginkgo.timeout=${timeLimit}`,
];

type Spec = {
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly LeafNodeText: string;
  readonly LeafNodeType: string;
  readonly LeafNodeLocation: { readonly LineNumber: number };
  readonly State: string;
  /** Nanoseconds. */
  readonly RunTime: number;
  readonly Failure?: { readonly Message: string };
};

export type Outcome = { readonly state: string; readonly message: string; readonly seconds: number };

export class Ginkgo {
  readonly #program: string;
  readonly #folder: string;

  /** `folder`: for logs and reports. */
  constructor(program: string, folder: string) {
    this.#program = program;
    this.#folder = folder;
  }

  /** Each case of the file, with the line on which it stands. */
  async list(): Promise<readonly { readonly name: string; readonly line: number }[]> {
    const specs = await this.#run('list', [`--ginkgo.focus-file=${file}`, '--ginkgo.dry-run']);
    return specs.map((spec) => ({
      name: nameOf([...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(' ')),
      line: spec.LeafNodeLocation.LineNumber,
    }));
  }

  /** Plays the case of this line against an API server. */
  async play(line: number, server: string): Promise<Outcome> {
    const args = [`--ginkgo.focus-file=${file}:${line}`, `--kubeconfig=${this.#kubeconfig(server)}`];
    const [spec, ...more] = await this.#run(`case-${line}`, args);
    if (spec === undefined || more.length > 0)
      return {
        state: spec ? `${1 + more.length} played` : 'none played',
        message: this.#logOf(`case-${line}`),
        seconds: 0,
      };
    return { state: spec.State, message: spec.Failure?.Message ?? '', seconds: spec.RunTime / 1e9 };
  }

  #kubeconfig(server: string): string {
    const path = join(this.#folder, 'kubeconfig');
    const name = 'node';
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': name,
      contexts: [{ name, context: { cluster: name, user: name } }],
      clusters: [{ name, cluster: { server } }],
      users: [{ name, user: {} }],
    };
    writeFileSync(path, JSON.stringify(config));
    return path;
  }

  #logOf = (name: string): string => readFileSync(join(this.#folder, `${name}.log`), 'utf8').slice(-2_000);

  /** The specs that were played; none: the program has failed. */
  async #run(name: string, args: readonly string[]): Promise<readonly Spec[]> {
    const report = join(this.#folder, `${name}.json`);
    const log = openSync(join(this.#folder, `${name}.log`), 'w');
    // Dozens run side by side, and each of them waits.
    const env = { ...process.env, GOMAXPROCS: '1', KUBECONFIG: '' };
    const child = spawn(this.#program, [...common, ...args, `--ginkgo.json-report=${report}`], {
      env,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    await once(child, 'exit');
    if (!existsSync(report)) return [];
    const [suite] = JSON.parse(readFileSync(report, 'utf8')) as readonly { readonly SpecReports: readonly Spec[] }[];
    return (suite?.SpecReports ?? []).filter(
      ({ LeafNodeType, State }) => LeafNodeType === 'It' && State !== 'skipped' && State !== 'pending',
    );
  }
}
