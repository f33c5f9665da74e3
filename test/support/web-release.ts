/** A Service and the Deployment that it selects, as a chart renders them: the target's host is the Service's name. */
export const webRelease = `apiVersion: v1
kind: Service
metadata: { name: web }
spec: { selector: { app: web }, ports: [{ port: 80 }] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: c, readinessProbe: { tcpSocket: { port: 80 } } }] }
`;
