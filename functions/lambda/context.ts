/** The part of Lambda's invocation context that the functions use. */
export type InvocationContext = {
  readonly awsRequestId: string;
  /** Returns the time until Lambda ends the invocation by force, in ms. */
  getRemainingTimeInMillis(): number;
};
