/** Targets of one site, which fail and recover together, and a few elsewhere. */
import { every, likeTargets, type ScriptedTarget } from './targets.ts';

/** With a period of 5 s so many turn unhealthy faster than the surge limit allows. */
const count = 80;
const elsewhere = 10;

/** Whether it is at the site. */
export const isAtSite = ({ index }: Pick<ScriptedTarget, 'index'>): boolean => index < count;

export const siteTargets = likeTargets(count + elsewhere, 'site', {
  hostOf: (index) => `12.0.0.${index}`,
  readiness: every(5),
});

/** What fails here fails twice before it turns, so a second place has been asked before. */
export const sandboxTargets = likeTargets(count + elsewhere, 'sandbox', {
  hostOf: (index) => `12.0.2.${index}`,
  readiness: every(5, { failureThreshold: 2 }),
});

/** With a period of 20 s they are read and looked at with what a scarce table takes. */
export const scarceTargets = likeTargets(count + elsewhere, 'scarce', {
  hostOf: (index) => `12.0.1.${index}`,
  readiness: every(20),
});
