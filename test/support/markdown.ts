/** What the tests of the documentation read of a Markdown file. */

/** The text with its fenced blocks emptied; line numbers stay. */
export function withoutFences(markdown: string): string {
  let fence: string | undefined;
  return markdown
    .split('\n')
    .map((line) => {
      const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
      const isOpen = fence !== undefined;
      if (mark && !isOpen) fence = mark;
      else if (mark && fence !== undefined && line.trim().startsWith(fence)) fence = undefined;
      return mark || isOpen ? '' : line;
    })
    .join('\n');
}

/** Targets of inline links, images included. */
export const linksOf = (markdown: string): readonly string[] =>
  [
    ...withoutFences(markdown)
      .replaceAll(/`[^`\n]*`/g, '')
      .matchAll(/\]\(<?([^)<>\s]+)>?(?:\s+"[^"]*")?\)/g),
  ].map(([, target = '']) => target);

/** The anchors that GitHub gives the headings. */
export const anchorsOf = (markdown: string): ReadonlySet<string> =>
  new Set(
    [...withoutFences(markdown).matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );

/** The rows of all tables without heads and rules, cell by cell. */
export const tableRowsOf = (markdown: string): readonly (readonly string[])[] => {
  const lines = withoutFences(markdown).split('\n');
  const isRule = (line: string | undefined) => /^\|(\s*:?-+:?\s*\|)+\s*$/.test(line ?? '');
  return lines
    .filter((line, index) => line.startsWith('|') && !isRule(line) && !isRule(lines[index + 1]))
    .map((line) =>
      line
        .slice(1, line.lastIndexOf('|'))
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
};

/** What stands in backticks, in order. */
export const codeSpansOf = (markdown: string): readonly string[] =>
  [...markdown.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

/** What stands in the fenced blocks of one language. */
export const fencesOf = (markdown: string, language: string): readonly string[] =>
  [...markdown.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, text = '']) => text);
