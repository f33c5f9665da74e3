/** Every limit on a target's fields. Changing one changes the API: see docs/api.md. */

export const namespaceLengthMax = 63;
export const targetNameLengthMax = 253;
export const labelsMax = 64;
export const annotationsMax = 64;
/** Keys and values of all labels together; the same limit applies to annotations. */
export const labelsBytesMax = 8 * 1024;
export const annotationsBytesMax = 8 * 1024;

/** Ordinary and init containers together. */
export const containersMax = 20;
export const portsMax = 100;
export const envMax = 100;
export const readinessGatesMax = 20;
export const restartPolicyRulesMax = 20;
/** The range of a whole number in Kubernetes. */
export const int32 = { min: -(2 ** 31), max: 2 ** 31 - 1 };
export const exitCodesMax = 255;

export const portMin = 1;
export const portMax = 65_535;
/** Length of a named port: IANA_SVC_NAME. */
export const portNameLengthMax = 15;
export const hostLengthMax = 253;

export const periodSecondsMax = 3_600;
export const timeoutSecondsMax = 60;
export const thresholdMax = 10_000;
export const initialDelaySecondsMax = 86_400;
export const gracePeriodSecondsMax = 86_400;

export const pathLengthMax = 2_048;
export const headersMax = 20;
/** Name and value of one header. */
export const headerBytesMax = 1_024;
export const commandWordsMax = 256;
export const serviceLengthMax = 253;

/** One item of the table, its JSON in UTF-8. */
export const targetItemBytesMax = 32 * 1024;
/** The part of it for what the server adds to the client's input: uid, counters, timestamps, manual triggers. */
export const itemBytesReserved = 4 * 1024;
/**
 * All items of one target are purged in one transaction: TARGET, REPORT, STATUS and the PROBE items, including those of
 * removed probes.
 */
const targetItemsMax = 90;
export const probeItemsMax = targetItemsMax - 3;

/** Below this period of a probe a run each minute is not enough, and its shard is held all the time. */
export const tickPeriodSecondsMin = 60;
