/** Made by `scripts/build-interface.ts`; `package.json` says where a service that runs from source finds it. */
declare module '#interface' {
  export const files: import('./interface-files.ts').InterfaceFiles
}
