/** The running container of a static target by its TARGET item, restated from docs/design/status.md. */
export function staticContainer(
  target: {
    readonly uid: string;
    readonly creationTimestampMs: number;
    readonly incarnations?: {
      readonly [name: string]: {
        readonly restartCount: number;
        readonly startedAtMs: number;
        readonly joinedGeneration?: number;
      };
    };
  },
  name: string,
) {
  const {
    restartCount = 0,
    startedAtMs = target.creationTimestampMs,
    joinedGeneration,
  } = target.incarnations?.[name] ?? {};
  const run = joinedGeneration === undefined ? restartCount : `${joinedGeneration}.${restartCount}`;
  return { name, containerID: staticContainerID(target.uid, name, run), startedAtMs, restartCount };
}

/** The containerID of a static container after so many restarts, restated from docs/design/status.md. */
const staticContainerID = (uid: string, container: string, run: number | string): string =>
  `probelet://${uid}/${container}/${run}`;
