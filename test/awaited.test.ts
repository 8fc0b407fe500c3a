import {relative} from 'node:path'
import ts from 'typescript'
import {expect, test} from 'vitest'
import {root} from './cli-harness.js'

// `return promise` leaves a `try` or a scope with `using` before the promise is settled: what it works with is closed,
// a lock is given back, an error is not caught. The linter has no rule that knows types.
test('a promise that is returned from within a try or a scope with using is awaited there', () => {
  expect(unawaited(program())).toEqual([])
}, 180_000)

test('the search finds such places, and only these', () => {
  const name = `${root}test/made.ts`
  const text = `
    declare function work(): Promise<number>
    export async function one() { await using held = {async [Symbol.asyncDispose]() {}}; if (held) return work(); return 1 }
    export async function two() { try { return work() } catch { return work() } }
    export async function three() { try { return await work() } finally { await Promise.all([1].map(() => { return work() })) } }
    export async function four() { try { work() } catch { return work() } finally { await work() } }`
  expect(unawaited(program([name, text]))).toEqual(['test/made.ts:3', 'test/made.ts:4', 'test/made.ts:6'])
}, 180_000)

function program(made?: readonly [name: string, text: string]): ts.Program {
  const host = {...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {}}
  const config = ts.getParsedCommandLineOfConfigFile(`${root}tsconfig.test.json`, {}, host)
  if (!config) throw new Error('tsconfig.test.json is not there')
  if (!made) return ts.createProgram(config.fileNames, config.options)
  const compiler = ts.createCompilerHost(config.options)
  const {getSourceFile} = compiler
  compiler.getSourceFile = (name, ...rest) =>
    name === made[0] ? ts.createSourceFile(name, made[1], ts.ScriptTarget.ESNext, true) : getSourceFile(name, ...rest)
  return ts.createProgram([made[0]], config.options, compiler)
}

function unawaited(from: ts.Program): string[] {
  const checker = from.getTypeChecker()
  const found: string[] = []
  for (const file of from.getSourceFiles()) if (!file.fileName.includes('/node_modules/')) look(file, false)
  return found

  function look(node: ts.Node, held: boolean): void {
    if (ts.isFunctionLike(node)) {
      each(node, false)
      return
    }
    if (ts.isTryStatement(node)) {
      look(node.tryBlock, true)
      if (node.catchClause) look(node.catchClause, held || node.finallyBlock !== undefined)
      if (node.finallyBlock) look(node.finallyBlock, held)
      return
    }
    if (ts.isBlock(node)) {
      each(node, held || node.statements.some(isUsing))
      return
    }
    if (
      ts.isReturnStatement(node) &&
      held &&
      node.expression &&
      isPromise(checker.getTypeAtLocation(node.expression))
    ) {
      const source = node.getSourceFile()
      const {line} = source.getLineAndCharacterOfPosition(node.getStart())
      found.push(`${relative(root, source.fileName)}:${line + 1}`)
    }
    each(node, held)
  }

  function each(node: ts.Node, held: boolean): void {
    ts.forEachChild(node, child => look(child, held))
  }
}

function isUsing(statement: ts.Statement): boolean {
  return ts.isVariableStatement(statement) && (statement.declarationList.flags & ts.NodeFlags.Using) !== 0
}

function isPromise(type: ts.Type): boolean {
  const types = type.isUnion() ? type.types : [type]
  return types.some(one => one.getProperty('then') !== undefined)
}
