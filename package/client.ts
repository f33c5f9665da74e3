/** `probelet/client`: a client of the API, on one machine or on AWS. `docs/api.md` says what its answers mean. */

export type { NamedTarget } from '../functions/client/answers.ts';
export type {
  ApiClient,
  ApiDescription,
  ProbeSelection,
  RequestedProbes,
  RestartReport,
  ServerHealth,
  ServerVersion,
  TargetQuery,
} from '../functions/client/api-client.ts';
export type { AwsCredentials, CredentialProvider } from '../functions/client/aws-signer.ts';
export { ClientError, type ClientFault } from '../functions/client/client-error.ts';
export { type AwsSettings, type ClientSettings, probeletClient } from '../functions/client/probelet-client.ts';
export type { WatchedEvent, WatchQuery } from '../functions/client/watching.ts';
export type {
  CleanedTargets,
  ConditionalWrite,
  DesiredTargets,
  ManifestBatch,
  ManifestLines,
  NewTarget,
  PodManifest,
  Registration,
  Removal,
  WriteOptions,
  WrittenTarget,
} from '../functions/client/writes.ts';
export type { EventView } from '../shared/api/routes/events.ts';
export type { MergePatch } from '../shared/api/routes/target.ts';
export type { NewTargetManifest } from '../shared/api/routes/target-create.ts';
export type { Manifest } from '../shared/api/schema/manifest-schema.ts';
export type { StatusReport } from '../shared/api/schema/status-report.ts';
export type { TargetView } from '../shared/api/schema/target-schema.ts';
export type { AppliedLine } from '../shared/api/targets/apply-lines.ts';
export type { AppliedManifest } from '../shared/api/targets/apply-manifests.ts';
