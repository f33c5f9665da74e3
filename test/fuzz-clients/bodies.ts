/**
 * The costliest bodies that the API reads: for each syntax and route the shapes that make a parser, a check or an
 * answer work hardest, as large as they are accepted.
 */

export type CostlyBody = {
  readonly name: string;
  readonly method: 'PUT' | 'POST' | 'PATCH';
  readonly path: string;
  readonly type: string;
  readonly body: string;
};

/** Of one target or document; of YAML the largest of all. */
const smallBytes = 64 * 1024;
/** Of many targets in JSON. */
const largeBytes = 1024 * 1024;

const one = '/v1/namespaces/costly/targets/one';
const many = '/v1/namespaces/costly/targets';

/** As many entries as fit. */
function filled(begin: string, entry: (at: number) => string, options: Filling): string {
  const { end, separator = ',', bytes = smallBytes } = options;
  const entries: string[] = [];
  let left = bytes - begin.length - end.length;
  for (let at = 0; ; at += 1) {
    const next = entry(at);
    left -= next.length + (at > 0 ? separator.length : 0);
    if (left < 0) return begin + entries.join(separator) + end;
    entries.push(next);
  }
}

type Filling = { readonly end: string; readonly separator?: string; readonly bytes?: number };

const name = (at: number): string => at.toString(36);

const spec = (field: string, entry: (at: number) => string): string =>
  filled(`{"spec":{"host":"127.0.0.1","${field}":[`, entry, { end: ']}}' });

const probe = '{"tcpSocket":{"port":1}}';

/** Texts of one manifest in JSON. */
const manifests: Readonly<Record<string, string>> = {
  'fields that no schema has': filled('{"spec":{', (at) => `"${name(at)}":1`, { end: '}}' }),
  'fields of the document': filled('{', (at) => `"${name(at)}":1`, { end: '}' }),
  'containers without fields': spec('containers', () => '{}'),
  'containers that are numbers': spec('containers', () => '1'),
  'containers that are lists': spec('containers', () => '[]'),
  'containers of one name': spec('containers', () => '{"name":"a"}'),
  'containers with a probe': spec('containers', (at) => `{"name":"a${name(at)}","livenessProbe":${probe}}`),
  'containers with probes of no handler': spec('containers', (at) => `{"name":"${name(at)}","livenessProbe":{}}`),
  'readiness gates': spec('readinessGates', (at) => `{"conditionType":"${name(at)}"}`),
  'readiness gates that are wrong': spec('readinessGates', () => '{"conditionType":"-"}'),
  labels: filled('{"metadata":{"labels":{', (at) => `"${name(at)}":""`, { end: '}},"spec":{"host":"a"}}' }),
  'labels that are wrong': filled('{"metadata":{"labels":{', (at) => `"-${name(at)}":"-"`, { end: '}},"spec":{}}' }),
  'labels that are numbers': filled('{"metadata":{"labels":{', (at) => `"${name(at)}":1`, { end: '}},"spec":{}}' }),
  annotations: filled('{"metadata":{"annotations":{', (at) => `"${name(at)}":""`, { end: '}},"spec":{"host":"a"}}' }),
  'environment variables': spec('containers', (at) => `{"name":"${name(at)}","env":[{"name":"a"},{"name":"b"}]}`),
  'ports of one name': spec('containers', () => '{"name":"a","ports":[{"name":"a","containerPort":1}]}'),
  'words of a command': filled('{"spec":{"livenessProbe":{"exec":{"command":[', () => '"a"', { end: ']}}}}' }),
  headers: filled(
    '{"spec":{"host":"a","livenessProbe":{"httpGet":{"port":1,"httpHeaders":[',
    (at) => `{"name":"${name(at)}"}`,
    { end: ']}}}}' },
  ),
  'headers that are wrong': filled('{"spec":{"livenessProbe":{"httpGet":{"httpHeaders":[', () => '{"name":":"}', {
    end: ']}}}}',
  }),
  'exit codes': filled(
    '{"spec":{"containers":[{"name":"a","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[',
    () => '1',
    { end: ']}}]}]}}' },
  ),
  'keys that repeat': filled('{', () => '"a":1', { end: '}' }),
  'a key that repeats last': filled('{"a":1,', (at) => `"b${name(at)}":1`, { end: ',"a":2}' }),
  'keys of a prototype': filled('{"spec":{"__proto__":{', (at) => `"${name(at)}":{"__proto__":1}`, { end: '}}}' }),
  'empty lists': filled('[', () => '[]', { end: ']' }),
  'nested lists': '['.repeat(smallBytes / 2) + ']'.repeat(smallBytes / 2),
  'nested within the limit': filled('[', () => '['.repeat(28) + ']'.repeat(28), { end: ']' }),
  'open brackets': '['.repeat(smallBytes),
  'open braces': '{"a":'.repeat(smallBytes / 5),
  'a text that does not end': `"${'\\"'.repeat(smallBytes / 2 - 2)}`,
  'escaped characters': `{"spec":{"host":"${'\\u0000'.repeat(smallBytes / 6 - 5)}"}}`,
  spaces: `${' '.repeat(smallBytes - 2)}{}`,
  numbers: `[${'1,'.repeat(smallBytes / 2 - 2)}1]`,
  'long numbers': `[${'9'.repeat(smallBytes - 2)}]`,
  commas: ','.repeat(smallBytes),
};

/** Texts of YAML with so many bytes. */
export const yamlTexts = (bytes: number): Readonly<Record<string, string>> => ({
  'keys of a map': filled('', (at) => `${name(at)}:`, { end: '', separator: '\n', bytes }),
  'keys of a flow map': filled('{', (at) => `${name(at)}:`, { end: '}', bytes }),
  'quoted keys': filled('{', (at) => `"${name(at)}":`, { end: '}', bytes }),
  'keys of many maps': filled('', (at) => `- {a: 1, b: 2, c: ${at}}`, { end: '', separator: '\n', bytes }),
  'a quoted text that does not end': `a: "${'x\n'.repeat(bytes / 2 - 3)}`,
  'escaped line breaks': `a: "${'\\\n'.repeat(bytes / 2 - 3)}`,
  'braces that are not expected': '}'.repeat(bytes),
  'brackets that are not expected': ']'.repeat(bytes),
  'keys that repeat': filled('', () => 'a:', { end: '', separator: '\n', bytes }),
  'empty documents': filled('', () => '---', { end: '', separator: '\n', bytes }),
  'ends of documents': filled('', () => '...', { end: '', separator: '\n', bytes }),
  'documents of one value': filled('', () => '1', { end: '', separator: '\n---\n', bytes }),
  'anchors of one name': filled('', () => '- &a 1\n- *a', { end: '', separator: '\n', bytes }),
  'aliases of one anchor': filled('- &a 1\n', () => '- *a', { end: '', separator: '\n', bytes }),
  'anchors of many names': filled('', (at) => `- &${name(at)} 1`, { end: '', separator: '\n', bytes }),
  'aliases of no anchor': filled('', () => '- *a', { end: '', separator: '\n', bytes }),
  'anchors of one node': '&a '.repeat(bytes / 3),
  'tags of one node': '!a '.repeat(bytes / 3),
  'tags of many nodes': filled('', () => '- !a 1', { end: '', separator: '\n', bytes }),
  'nested flow lists': '['.repeat(bytes),
  'nested flow maps': '{a: '.repeat(bytes / 4),
  'nested block lists': '- '.repeat(bytes / 2),
  'nested block keys': '? '.repeat(bytes / 2),
  'nested block maps': Array.from(
    { length: Math.floor(Math.sqrt(2 * bytes)) - 2 },
    (_, at) => `${' '.repeat(at)}a:`,
  ).join('\n'),
  comments: '#\n'.repeat(bytes / 2),
  'comments between entries': filled('', () => '- #', { end: '', separator: '\n', bytes }),
  'comments before keys': filled('', (at) => `#\n${name(at)}:`, { end: '', separator: '\n', bytes }),
  'empty lines': '\n'.repeat(bytes),
  'empty lines between entries': filled('', () => '-\n\n\n', { end: '', separator: '\n', bytes }),
  'merge keys': filled('a: &a {x: 1}\n', (at) => `b${at}: {<<: *a}`, { end: '', separator: '\n', bytes }),
  'values of a flow list': filled('[', () => '1', { end: ']', bytes }),
  'empty values of a flow list': `[${','.repeat(bytes - 2)}]`,
  'values of a block list': filled('', () => '-', { end: '', separator: '\n', bytes }),
  'pairs of a flow list': filled('[', () => 'a:', { end: ']', bytes }),
  'lines of a plain text': `a: ${'x\n '.repeat(bytes / 3 - 2)}`,
  'lines of a folded text': `a: >\n${' x\n'.repeat(bytes / 3 - 3)}`,
  'lines of a literal text': `a: |\n${' x\n'.repeat(bytes / 3 - 3)}`,
  'empty lines of a folded text': `a: >\n${'\n'.repeat(bytes - 7)} x`,
  'spaces in a plain text': `a: x${' '.repeat(bytes - 6)}x`,
  'spaces before a text': `${' '.repeat(bytes - 1)}x`,
  'spaces behind each line': filled('a:\n', () => ' x ', { end: '', separator: '\n', bytes }),
  tabs: '\t'.repeat(bytes),
  'tabs behind a dash': filled('', () => '-\t', { end: '', separator: '\n', bytes }),
  directives: '%YAML 1.2\n'.repeat(bytes / 10),
  'tag directives': filled('', (at) => `%TAG !${name(at)}! a`, { end: '', separator: '\n', bytes }),
  colons: ':'.repeat(bytes),
  'colons and spaces': ': '.repeat(bytes / 2),
  dashes: '-'.repeat(bytes),
  'question marks': '?\n'.repeat(bytes / 2),
  'quotes that end': filled('', () => '""', { end: '', separator: '\n', bytes }),
  'quotes in a row': '""'.repeat(bytes / 2),
  'single quotes': "'".repeat(bytes),
  'byte order marks': '\uFEFF'.repeat(bytes / 3),
  'carriage returns': '\r'.repeat(bytes),
  'one line of many fields': `a: ${'b: '.repeat(bytes / 3 - 2)}`,
  'a comment of one line': `a #${' b:'.repeat(bytes / 3 - 2)}`,
  'large numbers': filled('', () => '- 0x7fffffffffffffff', { end: '', separator: '\n', bytes }),
  'a long number': `a: ${'9'.repeat(bytes - 4)}`,
  'lines of one character': 'x\n'.repeat(bytes / 2),
});

/** Of one target or document, as large as it is accepted. */
const yamls = yamlTexts(smallBytes);

/** Texts of JSON for routes that take many targets. */
const larges: Readonly<Record<string, { readonly path: string; readonly body: string }>> = {
  'names of a desired set': {
    path: '/v1/namespaces/costly/desired',
    body: filled('{"names":[', (at) => `"target-of-a-name-${name(at)}"`, { end: ']}', bytes: largeBytes }),
  },
  'short names of a desired set': {
    path: '/v1/namespaces/costly/desired',
    body: filled('{"names":[', (at) => `"${name(at)}"`, { end: ']}', bytes: largeBytes }),
  },
  'fields of a desired set': {
    path: '/v1/namespaces/costly/desired',
    body: filled('{', (at) => `"${name(at)}":1`, { end: '}', bytes: largeBytes }),
  },
  'numbers of a desired set': {
    path: '/v1/namespaces/costly/desired',
    body: filled('{"names":[', () => '1', { end: ']}', bytes: largeBytes }),
  },
  'items of a list': {
    path: many,
    body: filled('{"kind":"List","items":[', () => '{}', { end: ']}', bytes: largeBytes }),
  },
  'fields of a list': {
    path: many,
    body: filled('{', (at) => `"${name(at)}":1`, { end: '}', bytes: largeBytes }),
  },
  'a hundred manifests': {
    path: many,
    body: filled(
      '{"kind":"List","items":[',
      (at) =>
        `{"metadata":{"name":"a${at}"},"spec":{${Array.from({ length: 450 }, (_, field) => `"a-longer-field-${field}":1`)}}}`,
      { end: ']}', bytes: largeBytes },
    ),
  },
  'one large manifest': {
    path: many,
    body: `{"kind":"List","items":[${filled('{"spec":{"host":"a","containers":[', () => '{}', { end: ']}}', bytes: largeBytes - 40 })}]}`,
  },
  brackets: { path: many, body: '['.repeat(largeBytes) },
  'empty lists': { path: many, body: filled('[', () => '[]', { end: ']', bytes: largeBytes }) },
  'escaped quotes': { path: many, body: `["${'\\"'.repeat(largeBytes / 2 - 2)}"]` },
  spaces: { path: many, body: `${' '.repeat(largeBytes - 2)}{}` },
};

const lines: Readonly<Record<string, string>> = {
  'of 64 KiB': `${manifests['containers without fields']}\n`.repeat(16),
  'that are empty': '\n'.repeat(largeBytes),
  'of one target': '{"metadata":{"namespace":"costly","name":"b"},"spec":{}}\n'.repeat(9_000),
  'of many targets': filled(
    '',
    (at) => `{"metadata":{"namespace":"costly","name":"a${at}"},"spec":{"host":"127.0.0.1","x":1}}`,
    { end: '', separator: '\n', bytes: largeBytes },
  ),
  'of two characters': '{}\n'.repeat(9_000),
};

const status = (body: string, name: string): CostlyBody => ({
  ...{ name: `status report: ${name}`, method: 'PUT', path: `${one}/status`, type: 'application/json', body },
});

export const costlyBodies: readonly CostlyBody[] = [
  ...Object.entries(manifests).map(([name, body]) => ({
    ...({ name: `JSON: ${name}`, method: 'PUT', path: one, type: 'application/json', body } as const),
  })),
  ...Object.entries(yamls).map(([name, body]) => ({
    ...({ name: `YAML: ${name}`, method: 'PUT', path: one, type: 'application/yaml', body } as const),
  })),
  ...(['keys of a map', 'documents of one value', 'empty documents'] as const).map((name) => ({
    ...({ name: `YAML of many targets: ${name}`, method: 'PUT', path: many, type: 'application/yaml' } as const),
    body: yamls[name] ?? '',
  })),
  ...(['fields of the document', 'containers without fields'] as const).map((name) => ({
    ...({ name: `merge patch: ${name}`, method: 'PATCH', path: one, type: 'application/merge-patch+json' } as const),
    body: manifests[name] ?? '',
  })),
  ...Object.entries(larges).map(([name, { path, body }]) => ({
    ...({ name: `large JSON: ${name}`, method: 'PUT', path, type: 'application/json', body } as const),
  })),
  ...Object.entries(lines).map(([name, body]) => ({
    ...({
      name: `lines ${name}`,
      method: 'PUT',
      path: '/v1/targets:apply',
      type: 'application/x-ndjson',
      body,
    } as const),
  })),
  status(manifests['fields of the document'] ?? '', 'fields'),
  status(
    filled('{"containerStatuses":[', () => '{}', { end: ']}' }),
    'containers without fields',
  ),
];
