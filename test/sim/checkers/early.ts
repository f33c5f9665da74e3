/**
 * Early: no probe begins before its container has run for the initial delay, by the clock of the probing process. No
 * readiness or liveness probe begins before the container's startup probe has succeeded.
 */
import { probeName } from '../../../shared/core/spec/spec.ts';
import { probeKey } from '../../../shared/store/records/keys.ts';
import { type Life, worldStartMs } from '../clock.ts';
import { processOf } from '../fault-log.ts';
import type { Probed } from '../ledger.ts';
import type { Endpoint, ProbeStart } from '../network.ts';
import { isTooEarly } from '../oracle/timing.ts';
import { keyKind } from '../store.ts';
import { type Checker, type Facts, runningContainer } from './checker.ts';
import { smallSkewMs } from './skew.ts';

/** How long a holder may still use an earlier spec. */
const specLagMs = 120_000;
/** The holder may have read its clock before the clock jumped. */
const jumpLagMs = 5_000;

export const early: Checker = (facts, violated) => {
  const { ledger, faults } = facts;
  const lives = new Map<string, Life>();
  /** By startup probe, not by endpoint: a success outlives a change of the spec. */
  const succeeded = new Map<string, number>();
  const specified = new Map<string, number>();
  const began = ({ endpoint, prober, startMs }: ProbeStart): void => {
    const probed = ledger.probedAt(endpoint);
    const life = lives.get(prober);
    const item = probed && ledger.probeItem(probed);
    if (!probed || !life || !item || item.uid !== probed.uid) return;
    // A run that has been replaced may not know the container; it cannot commit the result.
    if (ledger.tokenOf(prober) !== ledger.epochOf(probed.address.bucket)) return;
    const startedAtMs = startOf(facts, probed, item.containerID);
    const isNewSpec = (specified.get(probed.uid) ?? Number.NEGATIVE_INFINITY) > startMs - specLagMs;
    if (startedAtMs === undefined) return;
    const isJumping = faults
      .during(startMs - jumpLagMs, startMs, processOf(prober))
      .some(({ kind }) => kind === 'clock jump' || kind === 'pause' || kind === 'probe pause');
    const wallMs = worldStartMs + startMs + life.skewMs;
    const { initialDelaySeconds } = probed.probe.probe;
    if (!isNewSpec && !isJumping && isTooEarly(Math.min(startedAtMs, wallMs), initialDelaySeconds, wallMs))
      violated(
        `${prober} probed ${endpoint} ${wallMs - startedAtMs} ms after its container began, of ${initialDelaySeconds} s`,
      );
    const startup = startupOf(facts, probed);
    const sinceMs = startedAtMs - worldStartMs - 2 * smallSkewMs;
    if (startup && !isNewSpec && (succeeded.get(startupName(probed)) ?? -1) < sinceMs)
      violated(`${prober} probed ${endpoint} although ${startup} has not answered since ${sinceMs}`);
  };
  return {
    runStarted: ({ prober, life }) => void lives.set(prober, life),
    applied({ timeMs, changes }) {
      for (const { key, before, after } of changes)
        if (keyKind(key) === 'TARGET' && before && after) specified.set(String(after.uid), timeMs);
    },
    probeSeen({ endpoint, outcome, endMs }) {
      const probed = outcome === 'success' && ledger.probedAt(endpoint);
      if (probed && probed.probe.probeType === 'startup') succeeded.set(startupName(probed), endMs);
    },
    probeStarted: began,
    lookStarted: began,
  };
};

const startupName = ({ uid, probe }: Probed): string => `${uid}#${probe.container.spec.name}`;

/** The endpoint of the startup probe that this one waits for. */
function startupOf({ ledger }: Facts, { address, probe }: Probed): Endpoint | undefined {
  const { container, probeType } = probe;
  if (probeType === 'startup' || !container.spec.startupProbe) return undefined;
  return ledger.endpointOf(probeKey(address, probeName(container.spec.name, 'startup')));
}

/** When the container of this ID began; undefined: it is not the current one, or does not run. */
function startOf(facts: Facts, probed: Probed, containerID: string): number | undefined {
  const current = runningContainer(facts, probed);
  return current?.containerID === containerID ? current.startedAtMs : undefined;
}
