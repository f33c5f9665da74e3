/** Sends alerts to receivers of every kind. What a kind needs is loaded when the first alert goes to it. */
import type { Notification } from '../../../shared/alerts/alert-state.ts';
import type { Send, SendOutcome } from '../../../shared/alerts/delivery.ts';
import type { Receiver } from '../../../shared/alerts/formats/receiver.ts';
import type { AllowList } from '../../../shared/exec/allow-list.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { commandSender } from './command-sender.ts';
import type { HttpSender } from './http-sender.ts';

export type Sender = {
  readonly send: Send;
  /** Replaces the receivers from the next notification on. */
  readonly configure: (receivers: readonly Receiver[]) => void;
  readonly close: () => Promise<void>;
};

export type SenderOptions = {
  readonly clock: Clock;
  /** The commands that receivers may run. Absent: none. */
  readonly allows?: AllowList | undefined;
};

export function alertSender(receivers: readonly Receiver[], { clock, allows }: SenderOptions): Sender {
  const commands = commandSender(clock, allows);
  let http: Promise<HttpSender> | undefined;
  let byName = named(receivers);
  const sendTo = async (receiver: Receiver, notification: Notification, signal: AbortSignal): Promise<SendOutcome> => {
    switch (receiver.kind) {
      case 'exec':
        return commands.run(notification, receiver);
      case 'email': {
        const { sendMail } = await import('./mail-sender.ts');
        return sendMail(notification, receiver, signal);
      }
      case 'webhook':
      case 'slack':
      case 'teams':
      case 'discord':
      case 'pagerduty':
      case 'opsgenie':
      case 'alertmanager': {
        http ??= import('./http-sender.ts').then(({ httpSender }) => httpSender(clock));
        return (await http).send(notification, receiver, signal);
      }
    }
  };
  return {
    send: async (name, notification, signal) => {
      const receiver = byName.get(name);
      return receiver ? sendTo(receiver, notification, signal) : { kind: 'refused', why: 'there is no such receiver' };
    },
    configure: (next) => {
      byName = named(next);
    },
    close: async () => {
      commands.close();
      await (await http)?.close();
    },
  };
}

const named = (receivers: readonly Receiver[]): ReadonlyMap<string, Receiver> =>
  new Map(receivers.map((receiver) => [receiver.name, receiver]));
