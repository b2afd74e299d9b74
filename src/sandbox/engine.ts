import { EngineMemory, type Snapshot } from './memory.ts'

/**
 * One instance of the WebAssembly JavaScript engine (QuickJS): raw calls, its memory, and snapshots of that memory.
 * Every value of the guest is a handle: an address in that memory. Handles are not freed one by one, because the whole
 * memory is restored after a run.
 */
export class Engine {
  #calls: EngineCalls
  #memory: EngineMemory
  /** The address at which the engine stores the length of a text. */
  #lengthAt: number
  #argumentsAt: number
  /** The address of a buffer for short texts, so that passing one in needs no allocation. */
  #inputAt: number
  #undefined: Handle

  /** Starts a new engine, or restores a snapshot of another one, which saves the start. */
  constructor(module: WebAssembly.Module, host: EngineHost, from: { memoryBytesMax: number } | { snapshot: Snapshot }) {
    const instance = new WebAssembly.Instance(module, this.#imports(host))
    const calls = instance.exports as unknown as EngineCalls
    this.#calls = calls
    this.#memory = new EngineMemory(calls.memory, calls.pages)
    calls._initialize()
    // These are the first allocations, so they have the same addresses in every engine, also one from a snapshot.
    this.#lengthAt = calls.wasm_malloc(4)
    this.#argumentsAt = calls.wasm_malloc(4 * argumentsMax)
    this.#inputAt = calls.wasm_malloc(inputBytes)
    this.#undefined = calls.qjs_get_undefined()
    if ('snapshot' in from) this.restore(from.snapshot)
    else {
      if (calls.qjs_init2(intrinsics) !== 0) throw new Error('The JavaScript engine does not start')
      calls.qjs_set_memory_limit(from.memoryBytesMax)
      calls.qjs_set_max_stack_size(stackBytesMax)
      calls.qjs_set_interrupt_handler(1)
    }
  }

  /** Bytes of memory that the engine has taken from its host. */
  get size(): number {
    return this.#memory.size
  }

  /** Evaluates a script; undefined when it throws or does not parse: see `exception`. */
  evaluate(source: string, name: string): Handle | undefined {
    const code = this.#write(source)
    return this.#checked(this.#calls.qjs_eval(code.at, code.length, this.#write(name).at, 0))
  }

  /** Calls a function with a few arguments; undefined when it throws: see `exception`. */
  call(callee: Handle, values: readonly Handle[]): Handle | undefined {
    for (let index = 0; index < values.length; index++) {
      this.#memory.writeUint32(this.#argumentsAt + 4 * index, values[index]!)
    }
    return this.#checked(this.#calls.qjs_call(callee, this.#undefined, values.length, this.#argumentsAt))
  }

  /** The value that was thrown last. */
  exception(): Handle {
    return this.#calls.qjs_get_exception()
  }

  /** Runs one waiting job: 1 when it ran, 0 when none waits, negative when it threw. */
  runJob(): number {
    return this.#calls.qjs_execute_pending_job()
  }

  newString(text: string): Handle {
    // One UTF-16 unit has at most three bytes in UTF-8.
    if (text.length * 3 <= inputBytes) {
      return this.#calls.qjs_new_string(this.#inputAt, this.#memory.writeText(this.#inputAt, text, inputBytes))
    }
    const { at, length } = this.#write(text)
    const handle = this.#checked(this.#calls.qjs_new_string(at, length))
    this.#calls.wasm_free(at)
    if (handle === undefined) throw new EngineFull()
    return handle
  }

  newNumber(value: number): Handle {
    return this.#calls.qjs_new_number(value)
  }

  /** A guest function that calls the host, which identifies it by the first letter of its name. */
  newHostFunction(name: string): Handle {
    const { at, length } = this.#write(name)
    return this.#calls.qjs_new_host_function(at, length, 1)
  }

  /** An element of an array of the guest. */
  item(array: Handle, index: number): Handle {
    return this.#calls.qjs_get_prop_uint32(array, index)
  }

  /** The text of a value; undefined when no memory is left for it or the conversion throws. */
  textOf(value: Handle): string | undefined {
    const at = this.#calls.qjs_get_string_len(value, this.#lengthAt)
    return at === 0 ? undefined : this.#memory.readText(at, this.#memory.readUint32(this.#lengthAt))
  }

  promiseState(promise: Handle): PromiseState {
    return promiseStates[this.#calls.qjs_promise_state(promise)] ?? 'none'
  }

  /** The value or reason of a settled promise. */
  promiseResult(promise: Handle): Handle {
    return this.#calls.qjs_promise_result(promise)
  }

  snapshot(): Snapshot {
    return this.#memory.snapshot(this.#calls.__stack_pointer.value)
  }

  /** Restores the instance, also after a trap. */
  restore(snapshot: Snapshot): void {
    this.#memory.restore(snapshot)
    this.#calls.__stack_pointer.value = snapshot.stackPointer
  }

  #checked(handle: Handle): Handle | undefined {
    return this.#calls.qjs_is_exception(handle) === 0 ? handle : undefined
  }

  /** Copies text into the engine, with a zero byte at its end, which some calls need. */
  #write(text: string): { at: number; length: number } {
    const encoded = utf8Encoder.encode(text)
    const at = this.#calls.wasm_malloc(encoded.length + 1)
    if (at === 0) throw new EngineFull()
    this.#memory.write(at, encoded)
    return { at, length: encoded.length }
  }

  #imports(host: EngineHost): WebAssembly.Imports {
    return {
      env: {
        host_call: (nameAt: number, _length: number, _this: Handle, count: number, argumentsAt: number): Handle => {
          const text = () => (count === 0 ? undefined : this.textOf(this.#memory.readUint32(argumentsAt)))
          const result = host.call(this.#memory.readByte(nameAt), text)
          return result === undefined ? this.#calls.qjs_get_undefined() : this.newNumber(result)
        },
        host_interrupt: () => (host.interrupted() ? 1 : 0),
        host_promise_rejection: () => {},
        // No module handlers are set, so the engine itself refuses `import()`.
        host_module_normalize: () => 0,
        host_module_load: () => 0,
        // Local time is always UTC.
        host_get_timezone_offset: () => 0,
      },
      wasi_snapshot_preview1: {
        clock_time_get: (_clock: number, _precision: bigint, at: number) => {
          this.#memory.writeUint64(at, BigInt(Math.floor(host.now())) * 1_000_000n)
          return 0
        },
        random_get: (at: number, length: number) => {
          for (let index = 0; index < length; index++) this.#memory.writeByte(at + index, host.random() * 256)
          return 0
        },
        fd_write: () => badFile,
        fd_close: () => badFile,
        fd_seek: () => badFile,
        fd_fdstat_get: () => badFile,
      },
    }
  }
}

/** The functions of the host that the engine can call. */
export type EngineHost = {
  /** A host function was called; `name` is the first letter's code, `text` reads its argument. */
  call(name: number, text: () => string | undefined): number | undefined
  /** Called every few thousand steps. True ends the code with an error that it cannot catch. */
  interrupted(): boolean
  /** Epoch milliseconds. */
  now(): number
  /** 0 ≤ n < 1. */
  random(): number
}

/** `none`: the value is not a promise. */
export type PromiseState = 'pending' | 'fulfilled' | 'rejected' | 'none'

const promiseStates: readonly PromiseState[] = ['pending', 'fulfilled', 'rejected']

/** The engine has no memory left for a value of the host. */
export class EngineFull extends Error {}

export type Handle = number

/** The functions of `quickjs.wasm` that are used here. */
type EngineCalls = {
  memory: WebAssembly.Memory
  /** Added by `boundEngine`. */
  pages: WebAssembly.Global<'i32'>
  __stack_pointer: WebAssembly.Global<'i32'>
  _initialize(): void
  qjs_init2(intrinsics: number): number
  qjs_set_memory_limit(bytes: number): void
  qjs_set_max_stack_size(bytes: number): void
  qjs_set_interrupt_handler(on: number): void
  qjs_eval(codeAt: number, length: number, filenameAt: number, flags: number): Handle
  qjs_call(callee: Handle, self: Handle, count: number, argumentsAt: number): Handle
  qjs_is_exception(value: Handle): number
  qjs_get_exception(): Handle
  qjs_execute_pending_job(): number
  qjs_promise_state(promise: Handle): number
  qjs_promise_result(promise: Handle): Handle
  qjs_get_undefined(): Handle
  qjs_new_string(at: number, length: number): Handle
  qjs_new_number(value: number): Handle
  qjs_new_host_function(nameAt: number, length: number, parameters: number): Handle
  qjs_get_prop_uint32(array: Handle, index: number): Handle
  qjs_get_string_len(value: Handle, lengthAt: number): number
  wasm_malloc(bytes: number): number
  wasm_free(at: number): void
}

/**
 * The whole language but `performance` (bit 10), whose time origin would be that of the snapshot. The bits: Date, eval,
 * RegExp, JSON, Proxy, Map and Set, typed arrays, Promise, BigInt, WeakRef, DOMException, atob and btoa.
 */
const intrinsics = 0b1_1011_1111_1111

/** Half of the stack's megabyte: with more, a deep recursion would be a trap instead of an error. */
const stackBytesMax = 512 * 1024
const argumentsMax = 8
const inputBytes = 16 * 1024
/** WASI's EBADF. */
const badFile = 8

const utf8Encoder = new TextEncoder()
