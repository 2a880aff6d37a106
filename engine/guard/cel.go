package guard

// This is the only file that imports cel-go: moving to another module path is
// a change of this import block.
import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
)

type (
	expr       = ast.Expr
	loop       = ast.ComprehensionExpr
	celAST     = cel.Ast
	celEnv     = cel.Env
	celIssues  = cel.Issues
	celType    = cel.Type
	celProgram = cel.Program
	celValue   = ref.Val
	celDouble  = types.Double
	celInt     = types.Int
	celBool    = types.Bool
	celString  = types.String
)

const (
	kindCall    = ast.CallKind
	kindLoop    = ast.ComprehensionKind
	kindIdent   = ast.IdentKind
	kindList    = ast.ListKind
	kindLiteral = ast.LiteralKind
	kindMap     = ast.MapKind
	kindSelect  = ast.SelectKind
	kindStruct  = ast.StructKind
)

// Limits of a rule. They are far above what a guard needs; they bound what
// evaluating a rule of a stranger can cost.
const (
	maxRunes     = 4096
	maxRecursion = 64
	maxNodes     = 1000
	maxCost      = 100_000
	maxRegexp    = 1000
)

// limits are the options of every environment.
func limits() []cel.EnvOption {
	return []cel.EnvOption{
		cel.CrossTypeNumericComparisons(true),
		cel.EnableMacroCallTracking(),
		cel.EnableHiddenAccumulatorName(true),
		cel.ParserExpressionSizeLimit(maxRunes),
		cel.ParserRecursionLimit(maxRecursion),
		cel.ExpressionNodeLimit(maxNodes),
		cel.RegexProgramSizeLimit(maxRegexp),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateHomogeneousAggregateLiterals()),
	}
}

func newCELEnv(root *field, typ any) (*celEnv, error) {
	opts := append(limits(), ext.NativeTypes(ext.ParseStructTags(true), typ))
	for _, f := range root.fields {
		opts = append(opts, cel.Variable(f.name, declared(f)))
	}
	return cel.NewEnv(opts...)
}

// newTextCELEnv declares variables of the types that a text rule may read.
func newTextCELEnv(vars []TextVar) (*celEnv, error) {
	opts := limits()
	for _, v := range vars {
		opts = append(opts, cel.Variable(v.Name, textTypes[v.Type]))
	}
	return cel.NewEnv(opts...)
}

var textTypes = map[TextType]*celType{
	Text: cel.StringType, Whole: cel.IntType,
	TextList: cel.ListType(cel.StringType), TextMap: cel.MapType(cel.StringType, cel.StringType),
}

// newTextCELProgram plans a text rule under the same limit of cost.
func newTextCELProgram(env *celEnv, checked *celAST) (celProgram, error) {
	return env.Program(checked, cel.CostLimit(maxCost))
}

func declared(f *field) *celType {
	switch f.kind {
	case group:
		return cel.ObjectType(f.celType)
	case truth:
		return cel.BoolType
	case text:
		return cel.StringType
	}
	return cel.DoubleType
}

// newCELProgram plans the rule so that every operand is evaluated and every
// sub-expression's value is kept.
func newCELProgram(env *celEnv, checked *celAST) (celProgram, error) {
	return env.Program(checked, cel.EvalOptions(cel.OptExhaustiveEval), cel.CostLimit(maxCost))
}

func exprText(e expr, checked *celAST) string {
	s, err := cel.ExprToString(e, checked.NativeRep().SourceInfo())
	if err != nil {
		return ""
	}
	return s
}

func preOrder(e expr, visit func(expr)) { ast.PreOrderVisit(e, ast.NewExprVisitor(visit)) }

func isBool(t *celType) bool { return t.Kind() == types.BoolKind }
func isInt(t *celType) bool  { return t.Kind() == types.IntKind || t.Kind() == types.UintKind }
func isDyn(t *celType) bool  { return t.Kind() == types.DynKind }
func isText(t *celType) bool { return t.Kind() == types.StringKind }
func isMap(t *celType) bool  { return t.Kind() == types.MapKind }

// isNumber reports whether order is that of size, and not of characters or bytes.
func isNumber(t *celType) bool { return t.Kind() == types.DoubleKind || isInt(t) }

func isCELError(v celValue) bool { return types.IsUnknownOrError(v) }

// comparisons maps each ordering operator to its mirror image.
var comparisons = map[string]string{
	operators.Less: operators.Greater, operators.LessEquals: operators.GreaterEquals,
	operators.Greater: operators.Less, operators.GreaterEquals: operators.LessEquals,
}

// opText is how an ordering operator is written.
var opText = map[string]string{
	operators.Less: "<", operators.LessEquals: "<=", operators.Greater: ">", operators.GreaterEquals: ">=",
}

// total holds the functions that cannot fail on typed operands.
var total = map[string]bool{
	operators.LogicalAnd: true, operators.LogicalOr: true, operators.LogicalNot: true,
	operators.Conditional: true, operators.NotStrictlyFalse: true, operators.In: true,
	operators.Equals: true, operators.NotEquals: true,
	operators.Less: true, operators.LessEquals: true, operators.Greater: true, operators.GreaterEquals: true,
}

const (
	opAdd      = operators.Add
	opSubtract = operators.Subtract
	opMultiply = operators.Multiply
	opDivide   = operators.Divide
	opModulo   = operators.Modulo
	opNegate   = operators.Negate
	opIndex    = operators.Index
	opChoose   = operators.Conditional
	opIn       = operators.In
	opEqual    = operators.Equals
	opUnequal  = operators.NotEquals
	opAnd      = operators.LogicalAnd
	opOr       = operators.LogicalOr
	opNot      = operators.LogicalNot
	opNotFalse = operators.NotStrictlyFalse
)
