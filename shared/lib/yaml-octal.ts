/** Whole numbers of YAML with a leading zero, as programs in Go read them. */
import type { ScalarTag, Tags } from 'yaml';

/** YAML 1.2 writes 0o10 for 8, and Kubernetes, Compose and Gatus also read 010 so, as YAML 1.1 does. */
const octal: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+]?0[0-7]+$/,
  resolve: (text) => Number.parseInt(text, 8),
};

/** Before the tags of the schema, of which the first one that fits counts. */
export const withOctal = (tags: Tags): Tags => [octal, ...tags];
