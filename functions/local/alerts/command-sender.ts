/** Runs a command for each alert: the notification is on its standard input. */
import type { Notification } from '../../../shared/alerts/alert-state.ts';
import { type SendOutcome, sendMsMax } from '../../../shared/alerts/delivery.ts';
import type { CommandReceiver } from '../../../shared/alerts/formats/receiver.ts';
import { notificationJson } from '../../../shared/alerts/formats/webhook.ts';
import { shownNotification } from '../../../shared/alerts/notification-text.ts';
import type { AllowList } from '../../../shared/exec/allow-list.ts';
import { commandProcesses } from '../../../shared/exec/command-processes.ts';
import { localCommands } from '../../../shared/exec/local.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { answerLine } from './answer-line.ts';

export type CommandSender = {
  /** Never throws. Exit code 0 is delivered. */
  readonly run: (notification: Notification, receiver: CommandReceiver) => Promise<SendOutcome>;
  /** Kills what runs. */
  readonly close: () => void;
};

/** The command ends a little before its receiver counts as hanging. */
const commandMsMax = sendMsMax - 500;

export function commandSender(clock: Clock, allows: AllowList | undefined): CommandSender {
  const processes = commandProcesses(clock);
  const runCommand = localCommands({ clock, allows, processes });
  // Covers an exit without `close`.
  process.once('exit', processes.killAll);
  return {
    async run(notification, receiver) {
      const { command } = receiver;
      const input = `${JSON.stringify(notificationJson(shownNotification(notification)))}\n`;
      const outcome = await runCommand({ command, timeoutMs: commandMsMax, input });
      switch (outcome.kind) {
        case 'exited': {
          const answer = answerLine(outcome.output, receiver);
          const said = answer !== '' && { answer };
          if (outcome.exitCode === 0) return { kind: 'delivered', ...said };
          return { kind: 'failed', why: `exit code ${outcome.exitCode}`, ...said };
        }
        case 'timedOut':
          return { kind: 'failed', why: `not ended within ${commandMsMax / 1_000} s` };
        case 'denied':
        case 'notStarted':
          return { kind: 'failed', why: outcome.message };
      }
    },
    close() {
      process.off('exit', processes.killAll);
      processes.killAll();
    },
  };
}
