/**
 * Requests that wait for room, in the order in which they came. One whose client goes leaves at once: clients that come
 * and go are not bounded by the number of connections, so neither would be what they leave behind.
 */

export type WaitingRequest = Pick<Request, 'signal'>;

export class WaitingRequests<Waiting extends WaitingRequest = Request> {
  readonly #admit = new Map<Waiting, () => void>();

  /** Whether the request is admitted; if not, its client has gone. */
  wait(request: Waiting): Promise<boolean> {
    const { signal } = request;
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (isAdmitted: boolean) => {
        this.#admit.delete(request);
        signal.removeEventListener('abort', left);
        resolve(isAdmitted);
      };
      const left = () => end(false);
      signal.addEventListener('abort', left);
      this.#admit.set(request, () => end(true));
    });
  }

  /** Admits the one that has waited longest. undefined: none waits. */
  admitNext(): Waiting | undefined {
    const [next] = this.#admit;
    if (!next) return undefined;
    const [request, admit] = next;
    admit();
    return request;
  }
}
