/** Every limit on what a target may say. Changing one changes the API: see docs/api.md. */

export const namespaceLengthMax = 63;
export const targetNameLengthMax = 253;
export const labelsMax = 64;
export const annotationsMax = 64;
/** Keys and values of all labels together; the same of all annotations. */
export const labelsBytesMax = 8 * 1024;
export const annotationsBytesMax = 8 * 1024;

/** Ordinary and init containers together. */
export const containersMax = 20;
export const portsMax = 100;
export const envMax = 100;
export const readinessGatesMax = 20;
export const restartPolicyRulesMax = 20;
/** What Kubernetes keeps a whole number in. */
export const int32 = { min: -(2 ** 31), max: 2 ** 31 - 1 };
export const exitCodesMax = 255;

export const portMin = 1;
export const portMax = 65_535;
/** Of a named port: IANA_SVC_NAME. */
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
export const itemBytesMax = 32 * 1024;
/** Of those, what the server adds to what the client sent: uid, counters, timestamps, manual triggers. */
export const itemBytesReserved = 4 * 1024;
/** All items of one target are purged in one transaction: TARGET, REPORT, STATUS and the PROBE items, also of probes since removed. */
const targetItemsMax = 90;
export const probeItemsMax = targetItemsMax - 3;
