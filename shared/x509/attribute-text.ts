/** The strings of a name, as Go's parseASN1String takes them. */
import { isAscii, isUtf8 } from 'node:buffer';
import { type Element, tags } from './der.ts';

/** Not quite X.680: Go also takes the `*` and `&` of real certificates. */
const printable = /^[A-Za-z0-9'-)+-/ :=?*&]*$/;
const numeric = /^[0-9 ]*$/;

/** Why Go refuses the string; undefined: it does not. */
export function attributeTextProblem({ tag, content }: Element): string | undefined {
  switch (tag) {
    case tags.t61String:
      return undefined;
    case tags.printableString:
      return printable.test(content.toString('latin1')) ? undefined : 'invalid PrintableString';
    case tags.utf8String:
      return isUtf8(content) ? undefined : 'invalid UTF-8 string';
    case tags.bmpString:
      return isBmp(content) ? undefined : 'invalid BMPString';
    case tags.ia5String:
      return isAscii(content) ? undefined : 'invalid IA5String';
    case tags.numericString:
      return numeric.test(content.toString('latin1')) ? undefined : 'invalid NumericString';
    default:
      return `unsupported string type: ${tag}`;
  }
}

/** Two bytes a character, without surrogates and the code points that are reserved for ever. */
function isBmp(content: Buffer): boolean {
  if (content.length % 2 !== 0) return false;
  for (let at = 0; at < content.length; at += 2) {
    const point = content.readUInt16BE(at);
    const isSurrogate = point >= 0xd800 && point <= 0xdfff;
    if (isSurrogate || (point >= 0xfdd0 && point <= 0xfdef) || point >= 0xfffe) return false;
  }
  return true;
}
