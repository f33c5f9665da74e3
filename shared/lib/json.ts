/** What JSON can hold, and so what a store item can. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };
