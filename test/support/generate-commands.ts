/** Writes docs/commands.md, a row for each script of package.json: `node test/support/generate-commands.ts`. */
import { readFileSync, writeFileSync } from 'node:fs';

export const commandsDocument = new URL('../../docs/commands.md', import.meta.url);

/** `takes`: minutes on two cores. `needs`: beside what `npm test` needs; names in backticks are packages of Debian. */
type Command = { readonly does: string; readonly takes?: string; readonly needs?: string };
type Section = { readonly title: string; readonly commands: Readonly<Record<string, Command>> };

const sections: readonly Section[] = [
  {
    title: 'Use',
    commands: {
      start: { does: 'the whole product in one process, on http://127.0.0.1:8080' },
      demo: { does: 'a startup gate, a readiness flip, and a restart by a subscriber', takes: '0.5' },
      probelet: { does: 'the command line; from any folder: `functions/cli/probelet`' },
      cost: { does: 'the tables of costs in [operating](operating.md#costs)' },
    },
  },
  {
    title: 'Each change',
    commands: {
      check: { does: '`lint`, `types`, `deadcode` and `test`' },
      format: { does: 'corrects the format, and the findings of the linter that can be corrected' },
      lint: { does: 'format and lint, warnings included' },
      types: { does: 'the TypeScript compiler, strict, without output' },
      deadcode: { does: 'Knip: unused files, exports and dependencies; then the same without the tests' },
      test: { does: 'every `test/**/*.test.ts`', takes: '5' },
      'test:long': { does: 'every `test/**/*.long.ts`: storms of faults, simulated days, large fleets', takes: '4' },
    },
  },
  {
    title: 'Against kubelet',
    commands: {
      conformance: { does: '`-- FOLDER`: the vectors of that folder, a line a file' },
      record: {
        does: '`-- --kubernetes v1.36.3`: records the vectors again and compares them ([how](maintaining.md#the-next-kubernetes-minor))',
        takes: '1, the first build 10',
        needs: 'Go 1.26',
      },
      'e2e:local': { does: "kubelet's end-to-end cases in real time, against `npm start`", takes: '4' },
      'e2e:kubernetes': {
        does: "Kubernetes' own cases of container probes, compiled from its module, against `npm start`; `-- --only TEXT`, `--lifecycle static`, `--slice` ([how](maintaining.md#kubernetes-own-cases))",
        takes: '5, the first build 10',
        needs: 'Go 1.26, Linux, root',
      },
    },
  },
  {
    title: 'Faults, simulated',
    commands: {
      sim: {
        does: '`-- --seeds N --hours H`: the product under faults; `--seed FIRST`, `--world NAME`, `--replay FILE` ([worlds](testing.md#what-is-simulated))',
      },
      'sim:start': {
        does: '`-- --seeds N --hours H`: the same of what only `npm start` has; `--faults store,power-loss`',
      },
      'sim:mutants': { does: 'removes each protection in turn: the simulation, or a named test, has to notice' },
      mutate: { does: '`-- --seed N --count 500`: random changes of the product; prints the survivors' },
      honest: {
        does: 'random registrations, reports, restarts and hand-overs through the API: nothing is shown that was not seen; `-- --seed N --steps N`',
        takes: '1',
      },
      prove: {
        does: 'all of this and the faults below, and one table of every limit; `-- --slice`',
        takes: '45 to 60',
      },
    },
  },
  {
    title: 'Faults, real',
    commands: {
      'e2e:workers': { does: 'kills, stops and hands over worker processes, functions and tasks; two releases' },
      'e2e:faults': { does: 'cut networks, targets that hang, lost events, a stopped process; `-- --only NAME`' },
      'e2e:kill': { does: 'kills `npm start` at 20 random points', takes: '4' },
      'e2e:power': {
        does: 'the power goes after each call that changes the disk; `-- --slice`, `--seconds N`, `--seed N`',
        takes: '2',
        needs: 'Linux, `strace`',
      },
      'e2e:alerts': {
        does: 'receivers of alerts that fail, 40 kills, a full disk; `-- --kills N`',
        takes: '3',
        needs: 'root',
      },
      'e2e:trial': {
        does: 'real servers stop, pause and answer wrongly, and recover',
        takes: '8',
        needs: '`nginx-light haproxy redis-server postgresql`',
      },
    },
  },
  {
    title: 'Deployment and package',
    commands: {
      e2e: {
        does: 'deploys on an emulator of AWS, uses it, measures and destroys it; `-- --steady`, `--syncs-stop`',
        takes: '8',
      },
      'e2e:account': {
        does: 'two deployments side by side on an emulator that checks rights ([in an account](operating.md#a-first-half-day-on-aws))',
        takes: '3',
      },
      'e2e:package': {
        does: 'installs the package in a new folder, uses it, and follows the tutorial',
        takes: '1',
      },
      'e2e:apply': { does: '10,000 targets by `probelet apply`, killed at random points and repeated', takes: '2' },
      'e2e:image': { does: 'builds the images from the package alone and runs them', takes: '2', needs: '`buildah`' },
      'e2e:one-machine': {
        does: 'the proxies and the log rotation of [one machine](one-machine.md)',
        takes: '0.2',
        needs: '`nginx-light caddy logrotate`',
      },
      'e2e:browser': { does: 'a page in a real Chromium tries every verb and route', takes: '1', needs: '`chromium`' },
      pack: { does: 'builds and packs the npm package into `dist`' },
      'pack:check': { does: 'the same, judged by publint and Are the types wrong' },
      release: { does: 'the same, with bill of materials and licences; prints the command that publishes' },
      dockerfiles: { does: 'hadolint judges each Dockerfile' },
      templates: { does: 'cfn-lint judges the template of each kind of deployment in each region', takes: '1' },
      promtool: { does: 'checks the alerting rules and the text of `/metrics`', needs: '`prometheus`' },
    },
  },
  {
    title: 'Figures',
    commands: {
      bench: {
        does: "beside kubelet's probers and blackbox_exporter: CPU per probe, lateness, memory; `-- --only http,paced`, `--json`, `--compare`, `--short`",
        takes: '12',
        needs: 'Go, a C compiler, `unshare`, `taskset`',
      },
      'bench:steady': { does: '1,000 steady probes: CPU and store calls', takes: '2' },
      'bench:mass': {
        does: '500 to 10,000 targets of one shard go down at once; `-- --targets N --stores NAME`',
        takes: '15',
      },
      'bench:restart': { does: 'restarts with 1,000 and 10,000 targets', takes: '8' },
      'bench:registration': {
        does: '10,000 registrations by each route; `-- --targets N --routes lines,lists,single`, `--probed`',
        takes: '2',
      },
      'bench:reads': { does: 'a scrape and a list of 10,000 targets; `-- --targets N --only list`', takes: '3' },
      'bench:memory': {
        does: 'memory of `npm start`, and the bytes of a target; `-- --targets N --period SECONDS`',
        takes: '2',
      },
      'bench:function-memory': { does: 'memory of the prober function; `-- --targets N --memory MB`', takes: '4' },
      'bench:cold': { does: 'CPU of a cold start of each function' },
      scale: { does: 'fleets of 1,000 to 1,000,000: the tables of [scale](scale.md); `-- --targets N`', takes: '6' },
      'scale:throttled': { does: 'mass failures on tables with too few write units, in virtual time', takes: '1' },
    },
  },
  {
    title: 'Hostile input',
    commands: {
      'fuzz:api': { does: 'the API against its OpenAPI document, and raw requests', takes: '3', needs: 'Python 3.11' },
      'fuzz:clients': {
        does: 'what each parser costs at its costliest input, then hostile clients; `-- --stages costs|crowd`, `--only TEXT`, `--minutes N`, `--seed N`',
        takes: '12',
      },
      'fuzz:peers': { does: 'hostile peers of every kind; `-- --stages crowd` (2 min), `--minutes N`' },
      'fuzz:commands': {
        does: 'random commands of containers, each run as a command and as the probe that `convert` makes of it; `-- --seed N --count N`',
        takes: '15',
        needs: 'Go, `curl wget busybox netcat-openbsd ncat`',
      },
    },
  },
];

const head = `# Commands

Every npm script, generated by \`test/support/generate-commands.ts\` from package.json and a description of each. Run one
with \`npm run NAME\`; options follow \`--\`. Minutes are for two cores. Packages in code type are Debian's:
\`apt-get install -y --no-install-recommends PACKAGE\`. \`bash .ci/run\` runs everything that CI does, from a clean clone.
`;

/** Those that npm runs before or after another one. */
const isHook = (name: string): boolean => /^(pre|post)[a-z]/.test(name);

const scripts = (): readonly string[] => {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return Object.keys(JSON.parse(file).scripts).filter((name) => !isHook(name));
};

/** Scripts without a description, and descriptions without a script. */
export function undescribed(): readonly string[] {
  const described = sections.flatMap(({ commands }) => Object.keys(commands));
  const both = [...described, ...scripts()];
  return both.filter((name) => both.indexOf(name) === both.lastIndexOf(name));
}

/** The whole document. */
export const commandsReference = (): string =>
  [
    head,
    ...sections.map(({ title, commands }) => {
      const rows = Object.entries(commands).map(([name, { does, takes = '', needs = '' }]) => {
        const cells = [`\`${name}\``, does.replaceAll('|', '\\|'), takes, needs];
        return `| ${cells.join(' | ')} |`.replaceAll(/ {2,}/g, ' ');
      });
      return `## ${title}\n\n| npm run | does | minutes | needs |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
    }),
  ].join('\n');

if (import.meta.main) writeFileSync(commandsDocument, commandsReference());
