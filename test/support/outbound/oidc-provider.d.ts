/** The part of the package that tests use. It has no types of its own. */
declare module 'oidc-provider' {
  import type { Server } from 'node:http'

  // biome-ignore lint/style/noDefaultExport: the package has only this export
  export default class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>)
    listen(port: number, hostname: string): Server
  }
}
