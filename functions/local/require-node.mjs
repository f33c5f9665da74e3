/** Stops a script on a Node that cannot run TypeScript, with a word on how to get one. Plain JavaScript: it has to run on any Node. */
const majorMin = 24;
const major = Number(process.versions.node.split('.')[0]);

if (major < majorMin) {
  process.stderr.write(
    `probelet needs Node ${majorMin}, this is ${process.versions.node}. On Linux 'npm ci' brings it and 'npm run' uses it; ` +
      'elsewhere install it from https://nodejs.org and try again.\n',
  );
  process.exit(1);
}
