/** `probelet edit`: changes a target in the user's editor, which opens again where the API refuses the text. */
import type { Command } from 'commander';
import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import type { AppliedManifest } from '../../../shared/api/targets/apply-manifests.ts';
import { convertFile } from '../../../shared/manifest/convert.ts';
import { membersOf } from '../../../shared/manifest/values.ts';
import { ClientError, refusalLine } from '../../client/client-error.ts';
import { type Editor, editorIn } from '../files/editor.ts';
import type { CommandSetting, Io } from '../io.ts';
import { yamlText } from '../printing/documents.ts';
import { apiCommand, connectionOf, flagsOf, type Session, withSession } from '../server/connection.ts';
import { CliError, exitCodes } from '../words/exit-codes.ts';
import { noTarget, targetNames } from '../words/resources.ts';

const examples = `
Examples:
  probelet edit target/checkout
  EDITOR='code --wait' probelet edit target checkout -n shop`;

export const editCommand = ({ io }: CommandSetting): Command =>
  apiCommand('edit')
    .description('change a target in the editor that VISUAL or EDITOR names')
    .argument('<target...>', 'target/NAME, or target NAME')
    .addHelpText('after', examples)
    .action(async (words: readonly string[], _options: object, command: Command) => {
      const [name = '', ...more] = targetNames(words);
      if (more.length > 0) throw new CliError('one target at a time is edited', exitCodes.wrongUse);
      await withSession(connectionOf(flagsOf(command), io.env), { io }, async (session) => {
        const { client, namespace } = session;
        const target = await client.target({ namespace, name });
        if (!target) throw noTarget(name, namespace);
        const editor = editorIn(io.env);
        try {
          io.line(await edit(io, session, editor, target));
        } finally {
          editor.end();
        }
      });
    });

/** How often the editor opens. */
const editsMax = 100;

const help = [
  "Lines that begin with '#' are ignored, and an empty file cancels the edit.",
  'If the text is refused, this file opens again with the reasons here.',
];
const unchanged = 'Edit cancelled, no changes made.';

/** The line to print. @throws CliError for a text that is refused and left so, and for a target that has changed */
async function edit(io: Io, session: Session, editor: Editor, target: TargetView): Promise<string> {
  const original = editable(target);
  let text = original;
  let reasons: readonly string[] = [];
  for (let round = 1; round <= editsMax; round += 1) {
    const edited = await editor.edited(text, [...help, ...reasons.map((reason) => `error: ${reason}`)]);
    if (edited.trim() === '') return 'Edit cancelled, saved file was empty.';
    if (edited === original) return unchanged;
    if (edited === text) break;
    text = edited;
    const stored = await put(target, text, session).catch((error: unknown) => {
      if (error instanceof ClientError) io.err(`Your text is in ${editor.kept()}`);
      throw error;
    });
    if (stored.kind === 'stored') return stored.isChange ? `target/${target.metadata.name} edited` : unchanged;
    if (stored.kind === 'stale')
      throw new CliError(`target/${target.metadata.name} has changed meanwhile: your text is in ${editor.kept()}`);
    reasons = stored.reasons;
  }
  throw new CliError(`edit cancelled, the text is refused: ${reasons.join('; ')}; your text is in ${editor.kept()}`);
}

/** What a client decides. */
const editable = ({ apiVersion, kind, metadata: { namespace, name, labels, annotations }, spec }: TargetView): string =>
  yamlText({ apiVersion, kind, metadata: { namespace, name, labels, annotations }, spec });

type PutOutcome =
  | { readonly kind: 'stored'; readonly isChange: boolean }
  | { readonly kind: 'refused'; readonly reasons: readonly string[] }
  /** Another program has changed the target since it was read. */
  | { readonly kind: 'stale' };

async function put({ metadata }: TargetView, text: string, { client }: Session): Promise<PutOutcome> {
  const conversion = convertFile({ name: 'target.yaml', text });
  if (conversion.kind === 'invalid')
    return refused(conversion.errors.map(({ field = '', detail }) => `${field} ${detail}`.trim()));
  const { namespace, name, uid, resourceVersion } = metadata;
  const [wanted, ...more] = conversion.targets;
  if (!wanted || more.length > 0 || wanted.namespace !== namespace || wanted.name !== name)
    return refused([`must be the one target ${name} of namespace ${namespace}`]);
  const manifest = membersOf(wanted.manifest);
  const identified = { ...manifest, metadata: { ...membersOf(manifest.metadata), uid, resourceVersion } };
  const [item] = await client.apply({ namespace, manifests: [identified], dryRun: false });
  return storedBy(item);
}

const refused = (reasons: readonly string[]): PutOutcome => ({ kind: 'refused', reasons });

function storedBy(item: AppliedManifest | undefined): PutOutcome {
  if (!item?.problem) return { kind: 'stored', isChange: item?.change !== 'unchanged' };
  return item.problem.type === 'urn:probelet:problem:conflict'
    ? { kind: 'stale' }
    : refused([refusalLine(item.problem)]);
}
