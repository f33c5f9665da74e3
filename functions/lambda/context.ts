/** What a function uses of the context that Lambda gives to each invocation. */
export type InvocationContext = {
  readonly awsRequestId: string;
  /** Until Lambda ends the invocation by force. */
  getRemainingTimeInMillis(): number;
};
