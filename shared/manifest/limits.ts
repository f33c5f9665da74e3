/** Every limit on a file to convert. */

/** A file of 10,000 targets has about 3 MB. */
export const fileBytesMax = 8 * 1024 * 1024;
/** Empty documents count: a parser makes each of them. */
export const documentsMax = 20_000;
/** Values of all documents, where aliases count as copies. */
export const valuesMax = 2_000_000;
/** The schema of a custom resource, which a chart may hold, nests to about 60. */
export const fileDepthMax = 200;
/** Uses of anchors in one document. Compose files use them for common parts. */
export const aliasesMax = 1_000;
export const targetsMax = 10_000;
/** Errors of a file that are named. */
export const fileErrorsMax = 100;
/** Paths of fields that one note names. */
export const namedFieldsMax = 30;
/** Characters of a probe in the short form or in JSON, as a label holds it, and of a command that is read. */
export const probeTextLengthMax = 8_192;
