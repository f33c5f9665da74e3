/** Writes docs/cli.md from the commands themselves: `node test/support/generate-cli.ts`. */
import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { gatedIo, processIo } from '../../functions/cli/io.ts';
import { programOf } from '../../functions/cli/program.ts';

export const cliDocument = new URL('../../docs/cli.md', import.meta.url);

const introduction = `# Command line

\`probelet\` talks to the API as kubectl talks to Kubernetes'. From a clone, run it by npm:

\`\`\`sh
functions/cli/probelet get targets
\`\`\`

Without any configuration it talks to \`http://127.0.0.1:8080\`. Another server is named by \`--server\`, by
\`PROBELET_URL\`, or by a context of \`~/.config/probelet/config.yaml\` (or of \`XDG_CONFIG_HOME\`), in this order. The
token stands in the file of \`--token-file\`, in \`PROBELET_TOKEN\`, or in the file of \`PROBELET_TOKEN_FILE\`; a context
names its own. \`HTTPS_PROXY\`, \`HTTP_PROXY\` and \`NO_PROXY\` are obeyed, except for addresses of this machine.

## On AWS

Requests to an API on AWS are signed with the credentials that AWS's own tools find: of the environment, of a profile,
of single sign-on, or of the role of an instance. A context finds the address in the outputs of the CloudFormation
stack, and keeps the region and the profile:

\`\`\`sh
probelet context add prod --stack Probelet --region eu-west-1 --profile prod
probelet get targets --context prod
\`\`\`

A custom domain takes \`--url https://… --auth aws --region …\` in place of \`--stack\`. The address of API Gateway without
a context is signed for, too, unless there is a token; \`--auth\` says otherwise. API Gateway has no stream of events, so
\`--watch\` lists every 5 s there, and each list costs the requests that it takes.

## Requests and exit codes

Requests that change nothing twice are repeated up to twice if the connection breaks or the answer is 502, 503 or 504.
A server that asks for fewer requests (429) is asked again up to five times, after the pause of its \`Retry-After\` if
that is at most a minute.

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | something was wrong or could not be done; one line on the standard error stream says what |
| 2 | wrong use |
| 3 | not in time |
| 4 | what was named does not exist |
| 5 | of \`diff\`: it could not be compared; there 1 says that something would change |

## What the table of targets shows

READY, STATUS and RESTARTS are computed as kubectl's printer does for a Pod: sidecars count, a Pod that is being
initialized shows \`Init:0/1\`, one that terminates \`Terminating\`, and a container that does not run the reason of its
state, such as \`CrashLoopBackOff\` where the runtime reports it. A target is not always a Pod, so there are three
additions:

| cell | meaning |
| --- | --- |
| READY \`?/2\` | probes that cannot tell decide whether the target is ready; STATUS is then \`Unknown\` in place of \`Running\` |
| STATUS \`RestartRequested\` | a container failed its liveness or startup probe, and neither a restart nor a success has been seen since. Where kubelet restarts containers, kubectl shows \`CrashLoopBackOff\`; here the container runs on until it is restarted |
| RESTARTS \`1 (5m ago, 3 requested)\` | one restart was reported, five minutes ago; the next has been requested three times so far |

## Texts of others

Texts of servers, peers and files never command the terminal: control characters, marks that change the direction of
text, and line breaks within a cell, a name or an error are printed as JSON escapes them (\`\\u001b\`, \`\\n\`). YAML and
JSON escape them within quotes, so that a program reads what the server said. Values that a template finds are escaped,
too; the template's own texts keep their line breaks. The token of the call, its AWS credentials and signatures, where
a server repeats them, and the user and password of a URL in an error are printed as \`***\`.

A list or events of more than 256 Mi characters end with an error, as they would fill the memory.

## Templates, order and deletion

\`-o jsonpath=…\`, \`jsonpath-as-json=…\`, \`jsonpath-file=…\`, \`custom-columns=…\` and \`custom-columns-file=…\` take
kubectl's templates: fields, \`[*]\`, indices and slices, \`..\`, filters such as \`[?(@.name=="app")]\`,
\`{range …}…{end}\`, quoted texts, and \`\\.\` in names. A field that is missing is no error. Unlike kubectl's, members of
an object stand in its own order, numbers are compared whatever their kind, \`.*\` of a text finds nothing, and a
template without braces is refused. \`--sort-by\` takes one such path, with or without its braces.

\`delete\` waits as kubectl does until the targets are gone, at most their grace period and two minutes; \`--wait=false\`
does not, and \`--now\` (1 s), \`--force\` (0 s) and \`--grace-period\` shorten the grace period. \`wait --for=delete\` of a
target that is not there ends with exit code 0, as kubectl's, and says on the standard error stream that there was none.

This page is generated by \`test/support/generate-cli.ts\` from what the commands print as \`--help\`.
`;

/** Columns of the help, so that it does not depend on a terminal. */
const columns = 118;

/** The whole document. */
export async function cliReference(): Promise<string> {
  const printed: string[] = [];
  const io = gatedIo({ ...processIo(), out: (text: string) => void printed.push(text) });
  const program = await programOf({ io, endWith: () => undefined });
  const sectionOf = (command: Command): string => {
    const parents = command.parent?.parent ? `${command.parent.name()} ` : '';
    command.configureHelp({ helpWidth: columns }).outputHelp();
    return `## ${parents}${command.name()}\n\n\`\`\`text\n${printed.splice(0).join('').trimEnd()}\n\`\`\`\n`;
  };
  const commands = program
    .createHelp()
    .visibleCommands(program)
    .flatMap((command) => [command, ...command.commands]);
  return [introduction, ...commands.map(sectionOf)].join('\n');
}

if (import.meta.main) writeFileSync(cliDocument, await cliReference());
