/** The Kubernetes release whose behaviour is reproduced, as targets see it. */
export const userAgent = 'kube-probe/1.36';
