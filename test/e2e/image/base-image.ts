/**
 * An image that stands in for `node:24-slim`, of the programs of this machine: the real one is in a registry, and what
 * is tested is what the Dockerfile adds to it.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join, parse } from 'node:path';
import type { Buildah } from './buildah.ts';

const programs = ['sh', 'rm', 'mkdir', 'chown'];
const certificates = '/etc/ssl/certs/ca-certificates.crt';
const passwd = 'root:x:0:0::/var/root:/bin/sh\nnode:x:1000:1000::/data:/bin/sh\n';
const group = 'root:x:0:\nnode:x:1000:\n';
const npm = '#!/bin/sh\nexec node /usr/lib/npm/bin/npm-cli.js "$@"\n';

export function makeBaseImage(buildah: Buildah, name: string): void {
  const container = buildah('from', 'scratch');
  const folder = buildah('mount', container);
  const at = (path: string) => join(folder, path);
  for (const path of ['bin', 'usr/bin', 'etc', 'tmp', 'var/root', 'dev', 'proc', 'sys', 'run/secrets'])
    mkdirSync(at(path), { recursive: true });
  chmodSync(at('tmp'), 0o1777);
  for (const path of [process.execPath, ...programs.map(placeOf)]) {
    copy(path, at(`usr/bin/${parse(path).base}`));
    for (const library of librariesOf(path)) copy(library, at(library));
  }
  copy('/bin/sh', at('bin/sh'));
  // npm is a link to bin/npm-cli.js in its package.
  cpSync(join(realpathSync(placeOf('npm')), '../..'), at('usr/lib/npm'), { recursive: true });
  writeFileSync(at('usr/bin/npm'), npm, { mode: 0o755 });
  writeFileSync(at('etc/passwd'), passwd);
  writeFileSync(at('etc/group'), group);
  if (existsSync(certificates)) copy(certificates, at(certificates));
  buildah('config', '--env', 'PATH=/usr/bin:/bin', '--env', `NODE_EXTRA_CA_CERTS=${certificates}`, container);
  buildah('commit', '--quiet', '--format', 'docker', container, name);
  buildah('rm', container);
}

const placeOf = (program: string): string => execFileSync('which', [program], { encoding: 'utf8' }).trim();

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

const librariesOf = (program: string): readonly string[] =>
  [...execFileSync('ldd', [program], { encoding: 'utf8' }).matchAll(/\/\S+\.so[\d.]*/g)].map(([path]) => path);
