/**
 * The world of a process that is killed: targets that turn and are relabelled, alerts that are edited, a wall clock
 * that is set, a disk that is full, receivers that are slow, refuse and lose answers. It knows by itself what each
 * receiver should show.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Random } from '../../../shared/lib/random.ts';
import { type Arrival, type Misbehaviour, secretBytes, startServices } from './services.ts';
import { Shown } from './shown.ts';
import { decidedTargets } from './targets.ts';

const setClock = new URL('./set-clock.ts', import.meta.url).href;
const names = Array.from({ length: 12 }, (_, at) => `t${at}`);
const apps = ['shop', 'db', 'mail'];
const tiers = ['front', 'back'];
const receivers = ['webhook-slow', 'webhook-refuses', 'webhook-resets'];
/** Of the disk. A process keeps less than half of it. */
const diskMiB = 24;
const fillBytes = 64 * 1024;
const answerMsMax = 300;
const secondMs = 1_000;
const hourMs = 3_600 * secondMs;
const clockSteps = [-48 * hourMs, -hourMs, -10 * secondMs, 10 * secondMs, hourMs, 48 * hourMs];
/** How often each changes. */
const chances = { turn: 0.4, label: 0.2, alert: 0.3, clock: 0.3, disk: 0.5, misbehaves: 0.3 };

type Labels = { readonly app: string; tier: string };
type Rule = {
  readonly name: string;
  readonly notify: readonly string[];
  readonly matches: (labels: Labels) => boolean;
};

export class KillWorld {
  readonly #random: Random;
  readonly #folder = mkdtempSync(join(tmpdir(), 'probelet-kills-'));
  readonly #labels: ReadonlyMap<string, Labels>;
  readonly #shown = new Map(receivers.map((name) => [name, new Shown()]));
  #frontTier = 'front';
  /** How far the clock of the process is ahead, and was before it was last set; ms. */
  #clocks: readonly number[] = [0];
  #misbehaves = true;
  #targets!: Awaited<ReturnType<typeof decidedTargets>>;
  #services!: Awaited<ReturnType<typeof startServices>>;

  private constructor(random: Random) {
    this.#random = random;
    this.#labels = new Map(names.map((name, at) => [name, { app: apps[at % apps.length] ?? '', tier: 'front' }]));
  }

  /** @throws Error if this user may not mount a disk */
  static async begin(random: Random): Promise<KillWorld> {
    const world = new KillWorld(random);
    mkdirSync(world.#dataPath);
    run('mount', ['-t', 'tmpfs', '-o', `size=${diskMiB}m,mode=700`, 'tmpfs', world.#dataPath]);
    const misbehaviour: Misbehaviour = (response, arrival) => world.#answer(response, arrival);
    const behaviours = Object.fromEntries(receivers.map((name) => [name, misbehaviour]));
    world.#services = await startServices(behaviours, () => world.#clocks.map((aheadMs) => Date.now() + aheadMs));
    world.#targets = await decidedTargets();
    writeFileSync(world.#path('secret'), `whsec_${secretBytes.toString('base64')}`, { mode: 0o600 });
    world.#write();
    return world;
  }

  readonly args = ['--port', '0', '--data-dir', this.#dataPath, '--config', this.#path('probelet.json')];
  readonly command = [process.execPath, '--import', setClock];
  readonly env = { ...process.env, PROBELET_TEST_CLOCK: this.#path('clock') };
  readonly logPath = this.#path('log');
  isFull = false;

  /** By chance. What it has changed in files is whole in them. */
  change(): void {
    for (const name of names) if (this.#happens('turn')) this.#turn(name);
    for (const labels of this.#labels.values()) if (this.#happens('label')) labels.tier = this.#oneOf(tiers);
    if (this.#happens('alert')) this.#frontTier = this.#oneOf(tiers);
    if (this.#happens('clock')) this.#setClock();
    this.#write();
    if (this.#happens('disk')) this.#fill();
  }

  /** There is space on the disk again. */
  free(): void {
    rmSync(this.#fillPath, { force: true });
    this.isFull = false;
  }

  /** From now on receivers answer well, or misbehave again. */
  behave(isWell: boolean): void {
    this.#misbehaves = !isWell;
  }

  /** What each receiver shows although it does not last, and what it does not show although it does. */
  wrong(): readonly string[] {
    return receivers.flatMap((receiver) => {
      const shown = this.#shown.get(receiver)?.incidents() ?? [];
      const lasting = this.#lasting(receiver);
      const isTwice = (each: string, at: number) => shown.indexOf(each) !== at;
      return [
        ...lasting.filter((each) => !shown.includes(each)).map((each) => `${receiver} does not show ${each}`),
        ...shown.filter((each) => !lasting.includes(each)).map((each) => `${receiver} still shows ${each}`),
        ...shown.filter(isTwice).map((each) => `${receiver} shows ${each} twice`),
      ];
    });
  }

  /** What is wrong in any order of events. */
  faults(): readonly string[] {
    return [...this.#services.faults, ...[...this.#shown.values()].flatMap(({ faults }) => faults)];
  }

  arrived(): number {
    return this.#services.arrived.length;
  }

  async end(): Promise<void> {
    await Promise.all([this.#services.close(), this.#targets.close()]);
    run('umount', [this.#dataPath]);
    rmSync(this.#folder, { recursive: true });
  }

  get #dataPath(): string {
    return this.#path('data');
  }

  get #fillPath(): string {
    return join(this.#dataPath, 'fill');
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }

  #happens(what: keyof typeof chances): boolean {
    return this.#random.next() < chances[what];
  }

  #oneOf<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random.next() * items.length)] as Item;
  }

  #turn(name: string): void {
    const { down } = this.#targets;
    if (!down.delete(name)) down.add(name);
  }

  /** A request that is under way still has the time of before. */
  #setClock(): void {
    const [aheadMs = 0] = this.#clocks;
    this.#clocks = [aheadMs + this.#oneOf(clockSteps), aheadMs];
  }

  #rules(): readonly Rule[] {
    const [slow = '', refuses = '', resets = ''] = receivers;
    return [
      { name: 'all', notify: [slow], matches: () => true },
      { name: 'front', notify: [slow, refuses], matches: ({ tier }) => tier === this.#frontTier },
      { name: 'each', notify: [resets], matches: ({ app }) => app !== 'mail' },
    ];
  }

  #lasting(receiver: string): readonly string[] {
    const rules = this.#rules().filter(({ notify }) => notify.includes(receiver));
    return rules.flatMap(({ name: alert, matches }) =>
      [...this.#labels].flatMap(([name, labels]) =>
        this.#targets.down.has(name) && matches(labels) ? [`${alert}: NotReady ${name}`] : [],
      ),
    );
  }

  #write(): void {
    const url = (name: string) => ({ url: `${this.#services.url}/${name}`, secret: { file: this.#path('secret') } });
    const [all, front, each] = this.#rules();
    const config = {
      targets: ['targets.yaml'],
      alerts: [
        { name: all?.name, groupBy: ['app'], notify: all?.notify },
        { name: front?.name, match: { labels: `tier=${this.#frontTier}` }, groupBy: ['app'], notify: front?.notify },
        { name: each?.name, match: { labels: 'app!=mail' }, notify: each?.notify },
      ],
      receivers: receivers.map((name) => ({ name, webhook: url(name) })),
    };
    this.#replace('targets.yaml', this.#targets.manifests(Object.fromEntries(this.#labels)));
    this.#replace('probelet.json', JSON.stringify(config));
    this.#replace('clock', `${this.#clocks[0]}`);
  }

  /** Never half of it. */
  #replace(name: string, text: string): void {
    writeFileSync(this.#path(`${name}.new`), text);
    renameSync(this.#path(`${name}.new`), this.#path(name));
  }

  #fill(): void {
    this.isFull = true;
    const file = openSync(this.#fillPath, 'w');
    try {
      for (let mib = 0; mib < diskMiB; mib += fillBytes / 2 ** 20) writeSync(file, Buffer.alloc(fillBytes));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  }

  /** What is refused is not taken; what is reset or answered late is. */
  #answer(response: Parameters<Misbehaviour>[0], arrival: Arrival): boolean {
    const { receiver } = arrival;
    const misbehaves = this.#misbehaves && this.#happens('misbehaves');
    if (receiver === 'webhook-refuses' && misbehaves) return Boolean(response.writeHead(503).end());
    this.#shown.get(receiver)?.take(arrival);
    if (receiver === 'webhook-resets' && misbehaves) return Boolean(response.destroy());
    // So that a kill may come between a delivery and the knowledge of it.
    return Boolean(setTimeout(() => response.end(), this.#random.next() * answerMsMax));
  }
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
}
