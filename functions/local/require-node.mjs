/**
 * Stops a program on a Node version that is too old for it, and says how to get another. Plain JavaScript without
 * imports, because it must run on any version, before anything else is loaded.
 */
const [majorMin, minorMin] = [24, 11];
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < majorMin || (major === majorMin && minor < minorMin)) {
  process.stderr.write(
    `probelet needs Node ${majorMin}.${minorMin} or newer, this is ${process.versions.node}: install it from https://nodejs.org and try again. ` +
      "In a clone on Linux 'npm ci' brings it, and 'npm run' and 'npx' use it.\n",
  );
  process.exit(1);
}
