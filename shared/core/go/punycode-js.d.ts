/** The functions of the package `punycode.js`, which comes without types. Both throw a `RangeError`. */
declare module 'punycode.js' {
  const punycode: {
    readonly encode: (text: string) => string;
    readonly decode: (ascii: string) => string;
  };
  export default punycode;
}
