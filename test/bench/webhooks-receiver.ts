/** A receiver for the bench, as a process of its own: reads, answers 200, counts. Says at the end what it used. */
import { ca, serverCertificate } from '../support/receivers.ts'

const { cert, key } = await serverCertificate()
let count = 0
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  tls: { cert, key },
  // Seconds; one that hangs is not to be cut off by its own server.
  idleTimeout: 60,
  async fetch(request) {
    await request.arrayBuffer()
    count++
    if (new URL(request.url).pathname === '/hang') await new Promise(() => {})
    return new Response('ok')
  },
})
process.send!({ port: server.port, authority: (await ca()).cert })
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send!({ count, cpu_s: (user + system) / 1e6 })
})
