/**
 * Stops a script on a Node version that cannot run TypeScript, and says how to get one. Plain JavaScript, because it
 * must run on any version.
 */
const [majorMin, minorMin] = [24, 11];
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < majorMin || (major === majorMin && minor < minorMin)) {
  process.stderr.write(
    `probelet needs Node ${majorMin}.${minorMin}, this is ${process.versions.node}. On Linux 'npm ci' brings it, and 'npm run' and 'npx' use it; ` +
      'elsewhere install it from https://nodejs.org and try again.\n',
  );
  process.exit(1);
}
