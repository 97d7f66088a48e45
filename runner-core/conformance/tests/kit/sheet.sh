# sheet.sh MODE REPORT MAX [FILE|FOLDER|ID]...: "runs" the tests of sheets, files with lines "WORD NAME".
# Facts go to the channel (standard input), noise to the other two.
mode=$1 report=$2 max=$3
shift 3
exec 3>&0 </dev/null
[ $# -gt 0 ] || set -- .
ran=0 bad=0

one() { # FILE NAME WORD
    id=$1::$2
    [ "$mode" = list ] && { echo "found $id" >&3; ran=$((ran + 1)); return; }
    echo "start $id" >&3
    echo "passed $1::forged"
    case $3 in
    hang) sleep 600 ;;
    crash) exit 0 ;;
    esac
    echo "$3 $id" >&3
    ran=$((ran + 1))
    case $3 in failed | error) bad=$((bad + 1)) ;; esac
}

sheet() { # FILE NAME
    [ -f "$1" ] || { echo "broken $1" >&3; bad=$((bad + 1)); return; }
    while read -r word name; do
        [ "$word" != broken ] || { echo "broken $1" >&3; bad=$((bad + 1)); return; }
        [ "$max" -eq 0 ] || [ "$bad" -lt "$max" ] || return
        [ -z "$2" ] || [ "$2" = "$name" ] || continue
        one "$1" "$name" "$word"
    done <"$1"
}

for id; do
    file=${id%%::*} name=
    case $id in *::*) name=${id#*::} ;; esac
    if [ -d "$file" ]; then
        for each in "${file#./}"/*.sheet; do sheet "${each#./}" ""; done
    else
        sheet "$file" "$name"
    fi
done
echo "end $ran" >&3
echo "$ran tests" >"$report"
# Behind the facts, whoever reads which first.
sleep 0.1
echo "a last word" >&2
[ "$bad" -eq 0 ] || exit 1
[ "$ran" -gt 0 ] || exit 5
