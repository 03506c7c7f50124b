(ns isoproof.checker
  "A checker for Jepsen tests that has isoproof judge the history.

      (require '[isoproof.checker :as isoproof])
      {:checker (isoproof/checker {:workload :list-append
                                   :consistency-models [:serializable]})}

  The history goes into the directory `isoproof` of the store of the test, and beside it what isoproof says about it:
  result.json, report.html and counterexample.svg (the last two for histories of transactions).  Nothing else is needed
  than the program `isoproof`, on the PATH or named by :isoproof.

  Options, all of them optional:

    :workload            :list-append, :rw-register, :closed-predicate, :set, :counter or :auto (the default) for
                         transactions; :bank, :set, :set-full, :counter, :long-fork, :sequential, :comments,
                         :cas-register or :mutex for single operations.  Of :set and :counter the history decides
    :consistency-models  what must hold, by Elle's names; [:strict-serializable] unless :levels or :anomalies are given
    :anomalies           what must not be there, by Elle's names, beside what the models forbid ([:G1 :internal])
    :levels              isolation levels as isoproof defines them, decided exactly (:linearizable, :serializable, ...)
    :timeout             seconds to give up after; what is not decided then is :unknown.  600 unless given
    :memory              bytes, or a text such as \"4G\"; what does not fit is :unknown
    :isoproof            the program; \"isoproof\" unless given
    :directory           where to put the files; else the store of the test (see `check` below)
    :total-amount, :negative-balances?, :group-size                for :bank and :long-fork
    :wfr-keys?, :sequential-keys?, :linearizable-keys?             for :rw-register, the last for :set-full, too
    :arguments           more arguments for `isoproof check`, texts

  What comes back is a map with :valid? (true, false or :unknown, as Jepsen has it), :anomaly-types, :not, :also-not,
  :explanation, :files, and :error where isoproof could not be asked."
  (:require [clojure.java.io :as io]
            [clojure.string :as str]
            [jepsen.checker :as checker])
  (:import (java.io File IOException)
           (java.util.concurrent TimeUnit)))

(def object-workloads
  "Those of single operations, which isoproof calls models."
  #{:bank :set :set-full :counter :long-fork :sequential :comments :cas-register :mutex})

(def transaction-workloads
  #{:auto :list-append :rw-register :closed-predicate :set :counter})

(def usual-timeout 600)

;; ---- JSON: Clojure has no reader of its own, and tests should not need another library for a line of it ----

(defn- json-string [^String s start]
  (loop [i start, text (StringBuilder.)]
    (let [c (.charAt s i)]
      (cond
        (= c \") [(.toString text) (inc i)]
        (not= c \\) (recur (inc i) (.append text c))
        :else (let [e (.charAt s (inc i))]
                (if (= e \u)
                  (recur (+ i 6) (.append text (char (Integer/parseInt (subs s (+ i 2) (+ i 6)) 16))))
                  (recur (+ i 2) (.append text (char (get {\n \newline \t \tab \r \return \b \backspace \f \formfeed}
                                                          e e))))))))))

(defn- skip-blanks [^String s i]
  (if (and (< i (.length s)) (Character/isWhitespace (.charAt s i))) (recur s (inc i)) i))

(declare json-value)

(defn- json-list [s start]
  (loop [i (skip-blanks s start), items []]
    (case (.charAt ^String s i)
      \] [items (inc i)]
      \, (recur (skip-blanks s (inc i)) items)
      (let [[item after] (json-value s i)] (recur (skip-blanks s after) (conj items item))))))

(defn- json-object [s start]
  (loop [i (skip-blanks s start), fields {}]
    (case (.charAt ^String s i)
      \} [fields (inc i)]
      \, (recur (skip-blanks s (inc i)) fields)
      (let [[k after] (json-string s (inc i))
            [v after] (json-value s (skip-blanks s (inc (skip-blanks s after))))]
        (recur (skip-blanks s after) (assoc fields (keyword k) v))))))

(defn- json-value [^String s i]
  (case (.charAt s i)
    \{ (json-object s (inc i))
    \[ (json-list s (inc i))
    \" (json-string s (inc i))
    (let [word (re-find #"^[^,\]\}\s]+" (subs s i (min (.length s) (+ i 64))))]
      [(case word
         "true" true
         "false" false
         "null" nil
         (if (re-find #"[.eE]" word) (Double/parseDouble word) (bigint word)))
       (+ i (count word))])))

(defn parse-json
  "The first value of a text."
  [text]
  (first (json-value text (skip-blanks text 0))))

;; ---- the history ----

(defn- plain-op
  "What isoproof looks at.  Operations of Jepsen are records, and print with a tag and much that is not needed."
  [op]
  (into {} (filter (comp some? val)) (select-keys op [:index :time :type :process :f :value :isolation])))

(defn write-history!
  "Writes operations as a file, one map per line."
  [history file]
  (io/make-parents file)
  (with-open [out (io/writer file)]
    (binding [*out* out, *print-length* nil, *print-level* nil, *print-meta* false, *print-namespace-maps* false]
      (doseq [op history]
        (let [op (plain-op op)]
          ;; nil says something in a value: a read that found nothing.
          (prn (if (contains? op :value) op (assoc op :value nil)))))))
  file)

;; ---- the program ----

(defn- names [values] (str/join "," (map name (if (coll? values) values [values]))))

(defn- single-operations?
  "Whether to judge a history as operations on single objects: :set and :counter may be transactions, too."
  [workload history]
  (and (object-workloads workload)
       (or (not (transaction-workloads workload))
           (not-any? #(= :txn (:f %)) history))))

(defn arguments
  "The arguments of `isoproof check`, but for the file."
  [{:keys [workload consistency-models anomalies levels timeout memory] :or {workload :auto} :as options} object? files]
  (when-not (or (object-workloads workload) (transaction-workloads workload))
    (throw (IllegalArgumentException. (str "isoproof has no workload " workload))))
  (concat
    ["check" "--json" "--quiet" (str "--timeout=" (or timeout usual-timeout))]
    (when memory [(str "--memory-limit=" memory)])
    (cond
      object? ["--elle" (str "--model=" (name workload))]
      levels  [(str "--level=" (names levels))]
      :else   (concat
                [(str "--workload=" (name workload))]
                (when (or consistency-models (not anomalies))
                  [(str "--model=" (names (or consistency-models [:strict-serializable])))])
                (when anomalies [(str "--anomaly=" (names anomalies))])))
    (when-not object? [(str "--html=" (:html files)) (str "--svg=" (:svg files))])
    (when-let [total (:total-amount options)] [(str "--total-amount=" total)])
    (when (:negative-balances? options) ["--allow-negative-balances"])
    (when-let [size (:group-size options)] [(str "--group-size=" size)])
    (when (:wfr-keys? options) ["--wfr-keys"])
    (when (:sequential-keys? options) ["--sequential-keys"])
    (when (:linearizable-keys? options) ["--linearizable-keys"])
    (:arguments options)))

(defn- run!!
  "Runs a program, at most for so many seconds; what it says goes to files, so that it never waits for a reader."
  [command ^File out ^File err seconds]
  (try
    (let [process (-> (ProcessBuilder. ^java.util.List (mapv str command))
                      (.redirectOutput out)
                      (.redirectError err)
                      (.start))]
      (.close (.getOutputStream process))
      (try
        (if (.waitFor process (long (* 1000 seconds)) TimeUnit/MILLISECONDS)
          {:exit (.exitValue process)}
          {:error "isoproof did not end in time"})
        (finally (.destroyForcibly process))))
    (catch IOException e
      {:error (str "cannot run isoproof: " (.getMessage e))})))

;; ---- results ----

(defn- valid
  "Jepsen's word for what isoproof found."
  [{:keys [elle_valid verdict]}]
  (cond
    (boolean? elle_valid)   elle_valid
    (some? elle_valid)      :unknown
    (= verdict "satisfied") true
    (= verdict "violated")  false
    :else                   :unknown))

(defn- interpret
  "A result map from how the program ended and what it said."
  [{:keys [exit error]} ^File out ^File err files]
  (let [said    (when (and exit (pos? (.length out))) (parse-json (slurp out)))
        problem (or error
                    (:error said)
                    (when-not (contains? #{0 1 3} exit)
                      (str "isoproof ended with exit code " exit ": " (str/trim (slurp err)))))]
    (into {:files (into {} (filter #(.exists (io/file (val %)))) files)}
          (filter (comp some? val))
          (if problem
            {:valid? :unknown, :error problem}
            {:valid?        (valid said)
             :verdict       (:verdict said)
             :levels        (:levels said)
             :anomaly-types (some->> (:anomalies said) (map :code) distinct (mapv keyword) not-empty)
             :not           (:not said)
             :also-not      (:also_not said)
             :proved        (:proved said)
             :reason        (:unknown_reason said)
             :explanation   (or (:explanation said) (:explanation (first (:anomalies said))))}))))

(defn check-file
  "Has isoproof judge a file, and puts what it says into a directory.  `history` is the same as the file, for workloads
  of which the history decides what they are; it may be nil."
  [file directory history {:keys [isoproof timeout workload] :as options}]
  (let [path    (fn [name] (.getPath (io/file directory name)))
        files   {:json (path "result.json") :html (path "report.html") :svg (path "counterexample.svg")}
        out     (io/file (:json files))
        err     (io/file (path "messages.txt"))
        _       (io/make-parents out)
        object? (single-operations? (or workload :auto) history)
        command (concat [(or isoproof "isoproof")] (arguments options object? files) [(.getPath (io/file file))])
        ;; isoproof keeps to its limit by itself; a little more than that is for one that does not.
        ended   (run!! command out err (+ 30 (or timeout usual-timeout)))]
    (interpret ended out err files)))

(defn check-store
  "Judges the history of a store directory of Jepsen, such as store/latest, and puts the reports into its directory
  `isoproof`."
  [directory options]
  (if-let [file (->> ["history.edn" "history.edn.zst" "history.edn.gz"]
                     (map #(io/file directory %))
                     (filter #(.exists ^File %))
                     first)]
    (check-file file (io/file directory "isoproof") nil options)
    {:valid? :unknown, :error (str "no history.edn in " directory)}))

(defn- store-directory
  "Where the files of a test go: :directory, else the store that Jepsen gives the test."
  [test opts options]
  (or (:directory options)
      (when-let [path! (try (requiring-resolve 'jepsen.store/path!) (catch Exception _ nil))]
        (let [directory (path! test (:subdirectory opts) "isoproof" "history.edn")]
          (.getParentFile (io/file directory))))
      (io/file "isoproof")))

(defrecord Isoproof [options]
  checker/Checker
  (check [_ test history opts]
    (let [directory (store-directory test opts options)]
      (check-file (write-history! history (io/file directory "history.edn")) directory history options))))

(defn checker
  "A checker for Jepsen; the options are those above."
  ([] (checker {}))
  ([options] (->Isoproof options)))
