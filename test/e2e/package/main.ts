/**
 * `npm run e2e:package`: packs the npm package, installs it in a new folder and uses all that it offers: the command,
 * the process, the tutorial, the construct, the events and their types. Ends with `N passed, N failed`.
 */
import { tallyOf } from '../../support/tally.ts';
import { judgeInitialised } from './cdk-init.ts';
import { judgeClient } from './client.ts';
import { judgeCommand } from './command.ts';
import { judgeConstruct, judgeTypes } from './construct.ts';
import { judgeContents } from './contents.ts';
import { installPackage } from './installed.ts';
import { judgeProcess } from './process.ts';
import { judgeTutorial } from './tutorial.ts';

const { verdict, end } = tallyOf();
const installed = installPackage();
try {
  judgeContents(installed, verdict);
  judgeCommand(installed, verdict);
  judgeClient(installed, verdict);
  await judgeProcess(installed, verdict);
  await judgeTutorial(installed, verdict);
  judgeConstruct(installed, verdict);
  judgeTypes(installed, verdict);
  await judgeInitialised(installed, verdict);
} finally {
  installed.remove();
}
end();
