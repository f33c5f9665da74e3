/**
 * What the example of a restarted process runs: answers with its process id, and with 500 once it was asked for /break.
 * Its argument is the port.
 */
import { createServer } from 'node:http';

let isBroken = false;

createServer((request, response) => {
  if (request.url === '/break') isBroken = true;
  response.writeHead(isBroken && request.url === '/live' ? 500 : 200).end(`${process.pid}`);
}).listen(Number(process.argv[2]), '127.0.0.1');
