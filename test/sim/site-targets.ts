/** Targets of one site, where what fails for one fails for all at once, and a few elsewhere. */
import { container, every, namespace, type ScriptedTarget } from './targets.ts';

/** With a short period so many of them turn faster than the surge limit lets them. */
const count = 80;
const periodSeconds = 5;
const elsewhere = 10;

/** Whether it is at the site. */
export const isAtSite = ({ index }: Pick<ScriptedTarget, 'index'>): boolean => index < count;

export const siteTargets: readonly ScriptedTarget[] = Array.from({ length: count + elsewhere }, (_, index) => ({
  name: `site-${index}`,
  namespace,
  index,
  lifecycle: 'static',
  fate: 'stays',
  spec: () => ({
    host: `12.0.0.${index}`,
    lifecycle: 'static',
    containers: [container(0, { readiness: every(periodSeconds, { failureThreshold: 1 }) })],
  }),
}));
