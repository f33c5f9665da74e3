/** Sends alerts by SMTP. A connection lasts for one mail. */
import { createTransport } from 'nodemailer';
import type { Notification } from '../../../shared/alerts/alert-state.ts';
import { type SendOutcome, sendMsMax } from '../../../shared/alerts/delivery.ts';
import { mailOf } from '../../../shared/alerts/formats/email.ts';
import type { MailReceiver } from '../../../shared/alerts/formats/receiver.ts';
import { answerLine } from './answer-line.ts';

/** A refused login or a refused TLS may be mended by the operator; these replies are about the mail itself. */
const isRefusal = (code: number): boolean => code >= 550 && code <= 554;

/** Never throws. When the signal is aborted, the connection is closed. */
export async function sendMail(
  notification: Notification,
  receiver: MailReceiver,
  signal: AbortSignal,
): Promise<SendOutcome> {
  const transport = transportTo(receiver);
  const close = () => transport.close();
  signal.addEventListener('abort', close);
  const { to, ...mail } = mailOf(notification, receiver);
  try {
    const headers = { 'Auto-Submitted': 'auto-generated' };
    const { response, rejected } = await transport.sendMail({
      ...mail,
      to: [...to],
      inReplyTo: mail.references,
      headers,
    });
    const refused = rejected.length > 0 ? `; refused for ${rejected.map(String).join(', ')}` : '';
    return { kind: 'delivered', answer: answerLine(`${response}${refused}`, receiver) };
  } catch (error) {
    return mailFailureOf(error, receiver);
  } finally {
    signal.removeEventListener('abort', close);
    close();
  }
}

function transportTo({ host, port, tls, ca, login }: MailReceiver) {
  return createTransport({
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(ca !== undefined && { tls: { ca } }),
    ...(login && { auth: { user: login.user, pass: login.password } }),
    dnsTimeout: sendMsMax,
    connectionTimeout: sendMsMax,
    greetingTimeout: sendMsMax,
    socketTimeout: sendMsMax,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Codes alone, since messages may name what is secret; the server's reply is its answer. */
function mailFailureOf(error: unknown, receiver: MailReceiver): SendOutcome {
  const { code = 'unknown error', responseCode = 0, response = '' } = (error ?? {}) as SmtpError;
  const answer = answerLine(response, receiver);
  const why = responseCode === 0 ? code : `${code} ${responseCode}`;
  return { kind: isRefusal(responseCode) ? 'refused' : 'failed', why, ...(answer !== '' && { answer }) };
}

type SmtpError = { readonly code?: string; readonly responseCode?: number; readonly response?: string };
