/** What kubectl can do and this command line cannot, with what does it here. */

const notRun = 'a target is probed, but not run here';

const hints: { readonly [command: string]: string } = {
  logs: `${notRun}: 'probelet events NAME' prints what its probes have said`,
  exec: `${notRun}: 'probelet probe target/NAME' probes it now`,
  attach: `${notRun}: 'probelet get targets -w' prints what changes`,
  'port-forward': `${notRun}: probes go to its spec.host`,
  cp: notRun,
  run: `${notRun}: 'probelet apply -f FILE' registers one`,
  rollout: `${notRun}: restart it where it runs, and report that by POST …/restarted`,
  scale: `${notRun}: the file of 'probelet apply' names each of them`,
  autoscale: notRun,
  top: `${notRun}: /metrics of the server has the probes and their durations`,
  drain: notRun,
  create: "'probelet apply -f FILE' stores what is new and what has changed",
  replace: "'probelet apply -f FILE' replaces what has changed",
  patch: "'probelet edit target/NAME' changes a target, and 'probelet apply -f FILE' many",
  label: "'probelet edit target/NAME' changes the labels of a target",
  annotate: "'probelet edit target/NAME' changes the annotations of a target",
  set: "'probelet edit target/NAME' changes a target",
  config: "'probelet context' has the servers",
  'cluster-info': "'probelet doctor' says whether the server is in order",
  'api-resources': "'probelet get' knows targets, probes and events",
};

export const kubectlHint = (command: string): string | undefined =>
  Object.hasOwn(hints, command) ? `there is no command ${command}: ${hints[command]}` : undefined;

/** Commands that take files by `-f` only. */
export const fileCommands: readonly string[] = ['apply', 'diff', 'convert', 'lint', 'try'];
