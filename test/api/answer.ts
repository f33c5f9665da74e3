/** An answer of the API, read to its end. */

/** A JSON pointer into the body or the name of a query parameter, and what is wrong there. */
export type FieldError = { readonly pointer?: string; readonly parameter?: string; readonly detail: string };

/** A target, a list or a problem. Which of the fields an answer has depends on its route. */
export type AnswerBody = {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly deletionGracePeriodSeconds?: number;
    readonly continue?: string;
    readonly order?: string;
  };
  readonly spec: { readonly host: string; readonly lifecycle: string; readonly containers: readonly object[] };
  readonly items: readonly AnswerBody[];
  readonly type: string;
  readonly detail: string;
  readonly errors: readonly FieldError[];
};

export type Answer<Body = AnswerBody> = {
  readonly status: number;
  readonly headers: Headers;
  readonly etag: string | null;
  readonly warning: string | null;
  readonly text: string;
  readonly body: Body;
  /** The pointer or the parameter of each error. */
  readonly places: readonly (string | undefined)[];
};

export async function answerOf<Body>(response: Response): Promise<Answer<Body>> {
  const { status, headers } = response;
  const text = await response.text();
  const body = headers.get('content-type')?.includes('json') && text !== '' ? JSON.parse(text) : undefined;
  const errors: readonly FieldError[] = body?.errors ?? [];
  return {
    status,
    headers,
    etag: headers.get('etag'),
    warning: headers.get('warning'),
    text,
    body,
    places: errors.map(({ pointer, parameter }) => pointer ?? parameter),
  };
}
