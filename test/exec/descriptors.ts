/**
 * A prober with a store, a listener and connections; prints the descriptors of its command, which itself opens a folder
 * and closes it.
 */
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { localProbing } from '../../functions/local/process/probing.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { execRequest } from '../support/exec-request.ts';
import { recordingLog } from '../support/recording-log.ts';

const database = new DatabaseSync('');
database.exec('CREATE TABLE items (key TEXT); PRAGMA journal_mode = DELETE; INSERT INTO items VALUES (1)');
const server = createServer();
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
await new Promise((resolve) => socket.once('connect', resolve));

const probing = localProbing({ clock: systemClock, log: recordingLog(), allowExec: () => true });
const attempt = await probing.forRun().probers.exec(execRequest(['/bin/sh', '-c', 'ls /proc/$$/fd'], 5_000));
process.stdout.write(attempt.output);
await probing.close();
socket.destroy();
server.close();
database.close();
